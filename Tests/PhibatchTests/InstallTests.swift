import Foundation
import Testing

/// Files that `make install` puts in place, and completions among them.
@Suite struct InstallTests {
    private static let top = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path

    @Test func ofMLXWhatRunsAndNotItsHeaders() throws {
        let folder = FileManager.default.temporaryDirectory.path + "/phibatch-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        func stage(_ files: [String]) throws -> [String] {
            try? FileManager.default.removeItem(atPath: folder)
            for file in files {
                let path = folder + "/built/" + file
                try FileManager.default.createDirectory(
                    atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
                try Data("x".utf8).write(to: URL(filePath: path))
            }
            let made = try RunningProgram(
                ["make", "-s", "stage-mlx", "MLX_BUILT=\(folder)/built", "STAGE=\(folder)/stage"],
                folder: Self.top, program: "/usr/bin/env"
            ).end()
            #expect(made.status == 0, "\(made.errors)")
            let place = folder + "/stage/lib/phibatch-mlx"
            guard FileManager.default.fileExists(atPath: place) else { return [] }
            return try FileManager.default.subpathsOfDirectory(atPath: place).sorted()
        }
        let lasting = [
            "libphibatch-mlx.so", "mlx", "mlx-0.dist-info", "mlx-0.dist-info/LICENSE", "mlx/lib",
            "mlx/lib/libmlx.so",
        ]
        let files = ["libphibatch-mlx.so", "mlx-0.dist-info/LICENSE", "mlx/lib/libmlx.so"]
        let headers = [
            "mlx/include/mlx/mlx.h", "mlx/include/metal_cpp/Metal.hpp", "mlx/share/cmake/MLX.cmake",
        ]
        #expect(try stage(files + headers) == lasting)
        #expect(try stage(files) == lasting)
        #expect(try stage([]).isEmpty)
        // Kernels are compiled with these where they run.
        #expect(try stage(files + headers + ["mlx/include/cccl/cuda"]).contains("mlx/include/cccl/cuda"))
    }

    private func shell(_ script: String, _ environment: [String: String] = [:]) throws -> Program.Result {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        return try RunningProgram(
            ["-c", script], environment: ["PATH": path].merging(environment) { $1 }, folder: Self.top,
            program: "/bin/bash"
        ).end()
    }

    private func has(_ tool: String) -> Bool { (try? shell("command -v \(tool)").status) == 0 }

    private func file(_ text: String) throws -> String {
        let path = FileManager.default.temporaryDirectory.path + "/phibatch-\(UUID().uuidString)"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
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
            #expect(make.status == 0 && lines.count == (target == "install" ? 5 : 2), "\(make.errors)")
            for line in lines {
                let paths = line.split(separator: " ").filter { $0.hasPrefix("/") || $0.hasPrefix("\"") }
                #expect(!paths.isEmpty && paths.allSatisfy { $0.hasPrefix("\"/dest/pre") }, "\(line)")
            }
        }
    }
}
