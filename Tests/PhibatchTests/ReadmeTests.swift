import Foundation
import Testing

@testable import BatchPipeline
@testable import Jobs
@testable import phibatch

/// Tests that README's commands work when they are pasted in order, and that it shows what they print.
///
/// What CI has built stands for `make`'s compiling and for the wheel, whose block of Python is run in test_readme.py.
@Suite(.tags(.slow), .enabled(if: DemoJob.canRun, "the demo model is not there; make test fetches it"))
struct ReadmeTests {
    private static let text =
        (try? String(contentsOf: JobsClone.top.appending(path: "README.md"), encoding: .utf8)) ?? ""

    /// The fenced blocks in their order; the language is empty for output.
    private static let blocks: [(language: String, text: String)] =
        text.components(separatedBy: "```").enumerated().compactMap { number, block in
            guard number % 2 == 1, let end = block.firstIndex(of: "\n") else { return nil }
            return (String(block[..<end]), String(block[block.index(after: end)...]))
        }

    /// The commands of the table that have no placeholder.
    private static let tableCommands = text.split(separator: "\n").filter { $0.hasPrefix("| ") }.flatMap {
        row in
        row.matches(of: /`(phibatch [a-z]+ [^`]+)`/).map { String($0.1) }
    }

    /// All that can be pasted, as one script. A file of YAML is written where it is shown.
    private static func script() throws -> String {
        let pasted = try blocks.map { language, text in
            switch language {
            case "sh": return text
            case "yaml":
                let name = try #require(text.firstMatch(of: /^# (\S+\.yaml)/)?.1)
                return "cat > \(name) <<'END'\n\(text)END\n"
            default: return ""
            }
        }
        // A chat ends with its input.
        let table = tableCommands.map { $0 + " </dev/null" }
        return "set -e\n" + pasted.joined() + table.joined(separator: "\n")
    }

    /// A wheel and a venv of it are what the Python tests have.
    private static let representatives = [
        ("make wheel", "make -n wheel >/dev/null"), ("python3 -m venv", "echo"), ("pip install", "echo"),
    ]

    @Test func whatIsPastedWorksAndPrintsThis() throws {
        #expect(Self.text.split(separator: "\n", omittingEmptySubsequences: false).count <= 111)
        #expect(Self.text.split(separator: "\n").allSatisfy { $0.count <= 100 })
        #expect(Self.tableCommands.count >= 5)
        try JobsClone.with { clone in
            let files = FileManager.default
            for name in ["release", "install/bin"] {
                let folder = clone.folder + "/.build/" + name
                try files.createDirectory(atPath: folder, withIntermediateDirectories: true)
                try files.createSymbolicLink(
                    atPath: folder + "/phibatch", withDestinationPath: try #require(Program.path))
            }
            try files.copyItem(
                atPath: JobsClone.top.path + "/Makefile", toPath: clone.folder + "/Makefile")
            // The command is there once it is installed.
            try files.removeItem(atPath: clone.folder + "/bin/phibatch")
            var script = try Self.script()
            for (command, other) in Self.representatives {
                #expect(script.contains(command))
                script.replace(command, with: other)
            }
            try files.createDirectory(
                atPath: clone.folder + "/.build/venv/bin", withIntermediateDirectories: true)
            try Data().write(to: URL(filePath: clone.folder + "/.build/venv/bin/activate"))
            try Data(script.utf8).write(to: URL(filePath: clone.folder + "/readme.sh"))
            let run = try clone.shell("sh readme.sh", ["BUILT": "yes", "SWIFT": "true"])
            #expect(run.status == 0, "\(run.output) \(run.errors)")
            #expect(clone.has(".local/bin/phibatch") && clone.has("out/titles.jsonl.html"))
            func plain(_ text: String) -> String {
                text.replacing(/[0-9.]+ tokens\/s, [0-9.]+ s/, with: "N").replacing(#/^phibatch: /#, with: "")
            }
            let printed = try #require(Self.blocks.first { $0.language.isEmpty }).text
            for line in printed.split(separator: "\n") {
                #expect(plain(run.errors).contains(plain(String(line))), "\(line)")
            }
            let shown = try #require(Self.blocks.first { $0.language == "json" }).text.replacing(
                "\n", with: "")
            let results = try clone.text("out/titles.jsonl").split(separator: "\n")
            #expect(results.contains { $0 == shown.replacing(/"timing":\{[^{}]*\}/, with: "") }, "\(results)")
        }
    }

    /// Each setting, option, command and model that it names is known, and has the figures that `phibatch models` shows.
    @Test func namesAreKnown() throws {
        let help = try ["run", "status", "quantize", "merge", "redo"].map {
            try Program.run([$0, "--help-hidden"]).output
        }.joined()
        for option in Self.text.matches(of: /--([a-z][a-z-]+)/) where option.1 != "model" {
            #expect(help.contains("--\(option.1)"), "--\(option.1)")
        }
        for setting in Self.text.matches(of: /`([a-z_]+):/) where !["hf", "https"].contains(setting.1) {
            #expect(JobKey.named(String(setting.1)) != nil, "\(setting.1)")
        }
        let commands = Set(Phibatch.configuration.subcommands.compactMap { $0.configuration.commandName })
        for command in Self.text.matches(of: /[`"]phibatch ([a-z]+)/) {
            // The Python package has a command of its own.
            #expect(commands.union(["help", "demo"]).contains(String(command.1)), "\(command.1)")
        }
        let listed = try Program.run(["models"]).output
        let models = Self.text.matches(of: /\| `([a-z0-9.-]+)` \| ([0-9.]+ GB) \| ([0-9.]+ GB) \|/)
        #expect(!models.isEmpty)
        for model in models {
            let line = listed.split(separator: "\n").first { $0.hasPrefix(model.1 + " ") }
            #expect(line?.contains(model.2) == true && line?.contains(model.3) == true, "\(model.1)")
        }
    }
}
