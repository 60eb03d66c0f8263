import BatchPipeline
import Foundation
import Testing

@testable import phibatch

/// What `make install` puts in place beside the program.
@Suite struct ManualTests {
    private static let top = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    private func shell(_ script: String, _ environment: [String: String] = [:]) throws -> Program.Result {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        return try RunningProgram(
            ["-c", script], environment: ["PATH": path].merging(environment) { $1 }, folder: Self.top.path,
            program: "/bin/bash"
        ).end()
    }

    private func has(_ tool: String) -> Bool { (try? shell("command -v \(tool)").status) == 0 }

    private func file(_ text: String) throws -> String {
        let path = FileManager.default.temporaryDirectory.path + "/phibatch-\(UUID().uuidString)"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    @Test func pageHasAllSectionsAndNames() {
        let page = ManualPage.text
        for title in [
            "NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "ENVIRONMENT", "FILES", "EXIT STATUS", "EXAMPLES",
        ] {
            #expect(page.contains("\n.Sh \(title)\n"))
        }
        for command in Phibatch.configuration.subcommands where command.configuration.shouldDisplay {
            #expect(page.contains("\n.Ss phibatch \(command.configuration.commandName ?? "?")\n"))
        }
        for key in JobKey.all { #expect(page.contains("\n  \(key.name)"), "\(key.name)") }
        // A setting is an option of many commands, and told once.
        #expect(page.contains("\n  \\-\\-if\\-changed") && !page.contains("\n  \\-\\-keep\\-old"))
    }

    @Test func pageIsCleanToItsReaders() throws {
        let path = try file(ManualPage.text)
        defer { try? FileManager.default.removeItem(atPath: path) }
        var readers = 0
        if has("mandoc") {
            let lint = try shell("mandoc -Tlint \(path)")
            #expect(lint.output.isEmpty && lint.errors.isEmpty, "\(lint.output)")
            readers += 1
        }
        if try shell("man --version 2>&1").output.contains("man 2") {
            let man = try shell("man --warnings -l \(path) >/dev/null")
            #expect(man.status == 0 && man.errors.isEmpty, "\(man.errors)")
            readers += 1
        }
        if readers == 0 { print("neither mandoc nor man-db is there: the manual page is not read") }
    }

    @Test func bashCompletes() throws {
        guard let program = Program.path, has("bash") else { return }
        let script = """
            source <(phibatch --generate-completion-script bash)
            try() {
                COMP_WORDS=(phibatch "$@"); COMP_CWORD=$#; COMP_LINE="phibatch $*"; COMP_POINT=${#COMP_LINE}; COMPREPLY=()
                _phibatch phibatch "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"; echo "${COMPREPLY[*]}"
            }
            try run jobs/de; try run --kv ""; try run --error-lines ""; try run --output-format open; try run --max-f; try ver
            """
        let path = (program as NSString).deletingLastPathComponent + ":/usr/bin:/bin"
        let lines = try shell(script, ["PATH": path]).output.split(separator: "\n")
        #expect(
            lines == [
                "jobs/demo.yaml", "auto int8 int4 f16", "skip pass", "openai", "--max-failures", "verify",
            ])
    }

    @Test func shellsReadTheScripts() throws {
        for shell in ["zsh", "fish"] where has(shell) {
            let script = try file(Program.run(["--generate-completion-script", shell]).output)
            defer { try? FileManager.default.removeItem(atPath: script) }
            let read = try self.shell("\(shell) -n \(script)")
            #expect(read.status == 0 && read.errors.isEmpty, "\(read.errors)")
        }
    }

    /// Nothing is written outside of DESTDIR and PREFIX.
    @Test func installKeepsToItsFolders() throws {
        guard has("make") else { return }
        for target in ["install", "uninstall"] {
            let make = try shell("make -n \(target) BUILT=yes SWIFT=true DESTDIR=/dest PREFIX=/pre")
            let lines = make.output.split(separator: "\n").filter {
                $0.hasPrefix(target == "install" ? "install " : "rm ")
            }
            #expect(make.status == 0 && lines.count == (target == "install" ? 6 : 2), "\(make.errors)")
            for line in lines {
                let paths = line.split(separator: " ").filter { $0.hasPrefix("/") || $0.hasPrefix("\"") }
                #expect(!paths.isEmpty && paths.allSatisfy { $0.hasPrefix("\"/dest/pre") }, "\(line)")
            }
        }
    }
}
