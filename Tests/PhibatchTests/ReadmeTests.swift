import Foundation
import Testing

@testable import BatchPipeline
@testable import Jobs
@testable import phibatch

/// What README says is what happens: its commands run, its settings are known, its results look so.
@Suite(.tags(.slow), .enabled(if: DemoJob.canRun, "the demo model is not there; make test fetches it"))
struct ReadmeTests {
    private static let top = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    private static let text =
        (try? String(contentsOf: top.appending(path: "README.md"), encoding: .utf8)) ?? ""

    private static func blocks(_ language: String) -> [String] {
        text.components(separatedBy: "```").enumerated().compactMap { number, block in
            number % 2 == 1 && block.hasPrefix(language + "\n")
                ? String(block.dropFirst(language.count + 1)) : nil
        }
    }

    /// A folder as a fresh clone is after `make demo`, but for a job of a few tokens; `phibatch` is a command there.
    private func clone() throws -> String {
        let folder = FileManager.default.temporaryDirectory.path + "/phibatch-\(UUID().uuidString)"
        let files = FileManager.default
        for name in ["models", "jobs", "samples", "bin"] {
            try files.createDirectory(atPath: folder + "/" + name, withIntermediateDirectories: true)
        }
        try files.createSymbolicLink(
            atPath: folder + "/models/smollm2-demo", withDestinationPath: try #require(DemoJob.model))
        try files.createSymbolicLink(
            atPath: folder + "/bin/phibatch", withDestinationPath: try #require(Program.path))
        try DemoJob.samples().prefix(3).joined(separator: "\n").write(
            toFile: folder + "/samples/prompts.jsonl", atomically: true, encoding: .utf8)
        let notices = try String(
            contentsOf: Self.top.appending(path: "samples/notices.jsonl"), encoding: .utf8)
        try notices.split(separator: "\n").prefix(3).joined(separator: "\n").write(
            toFile: folder + "/samples/notices.jsonl", atomically: true, encoding: .utf8)
        try #require(Self.blocks("yaml").last).write(
            toFile: folder + "/dataset.yaml", atomically: true, encoding: .utf8)
        let job = try #require(Self.blocks("yaml").first)
        try job.replacing(/max_tokens: \d+/, with: "max_tokens: 3").write(
            toFile: folder + "/jobs/demo.yaml", atomically: true, encoding: .utf8)
        return folder
    }

    private func shell(_ script: String, in folder: String) throws -> Program.Result {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        return try RunningProgram(
            ["-c", script], environment: ["PATH": folder + "/bin:" + path, "HF_HUB_OFFLINE": "1"],
            folder: folder, program: "/bin/sh"
        ).end()
    }

    private func has(_ tool: String) -> Bool {
        (try? shell(tool, in: NSTemporaryDirectory()).status) == 0
    }

    @Test func commandsRunAsTheyStand() throws {
        let folder = try clone()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        #expect(try shell("phibatch run -q jobs/demo.yaml", in: folder).status == 0)
        let makefile = try String(contentsOf: Self.top.appending(path: "Makefile"), encoding: .utf8)
        for line in Self.blocks("sh").joined().split(separator: "\n") {
            let target = try #require(line.firstMatch(of: /^make ([a-z-]+)/), "\(line)")
            #expect(makefile.contains("\n\(target.1):"), "\(line)")
        }
        let example = try #require(Self.text.firstMatch(of: /`(phibatch run dataset[^`]+)`/)?.1)
        // A smaller dataset will do.
        let command = String(example).replacing("--until 20", with: "--until 4")
        let run = try shell(command, in: folder)
        #expect(run.status == 0, "\(command)\n\(run.errors)")
        let rows = try String(contentsOfFile: folder + "/out/questions.jsonl", encoding: .utf8)
        #expect(rows.split(separator: "\n").count >= 4 && !rows.contains("\"dropped\""), "\(rows)")
        if has("command -v make") {
            let rule = try #require(Self.text.firstMatch(of: /Makefile: `([^`]+)`, and below it\s+`([^`]+)`/))
            try "\(rule.1)\n\t\(rule.2)\n".write(
                toFile: folder + "/Makefile", atomically: true, encoding: .utf8)
            let made = try shell("make -s out/demo.jsonl && make -q out/demo.jsonl", in: folder)
            #expect(made.status == 0, "\(made.errors)")
        }
    }

    @Test func theResultLooksSo() throws {
        let folder = try clone()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        #expect(try shell("phibatch run -q jobs/demo.yaml", in: folder).status == 0)
        func names(_ line: Substring) -> [String] {
            line.replacing(/\{[^{}]*\}/, with: "0").matches(of: /"([a-z_]+)":/).map { String($0.1) }
        }
        let shown = try #require(Self.blocks("json").first).dropFirst().dropLast(2)
        let results = try String(contentsOfFile: folder + "/out/demo.jsonl", encoding: .utf8)
        let first = try #require(results.split(separator: "\n").first).dropFirst().dropLast()
        #expect(names(shown) == names(first.replacing(/"text":"[^"]*"/, with: "\"text\":\"\"")))
    }

    /// Each job and template is right, and each setting, option, error code and command is known.
    @Test func namesAreKnown() throws {
        for block in Self.blocks("yaml") {
            let needed = ["model", "input", "output"].filter { !block.contains("\($0):") }
                .map { "\($0): x\n" }.joined()
            _ = try PromptBuilder(JobSettings.parse(needed + block))
        }
        let help = try ["run", "status", "quantize", "merge"].map {
            try RunningProgram([$0, "--help-hidden"], folder: NSTemporaryDirectory()).end().output
        }.joined()
        for option in Self.text.matches(of: /--([a-z][a-z-]+)/)
        where option.1 != "help" {
            #expect(help.contains("--\(option.1)") || help.contains("-\(option.1)"), "--\(option.1)")
        }
        let codes = try RunningProgram(["help", "results"], folder: NSTemporaryDirectory()).end().output
        for code in LineError.Code.allCases { #expect(codes.contains(code.rawValue), "\(code)") }
        let commands = Set(Phibatch.configuration.subcommands.compactMap { $0.configuration.commandName })
            // The Python package has a command of its own.
            .union(["help", "demo"])
        for command in Self.text.matches(of: /`phibatch ([a-z]+)/) {
            #expect(commands.contains(String(command.1)), "\(command.1)")
        }
        for codes in [JobState.Kind.waiting.code...JobState.Kind.outOfDate.code] { #expect(codes == 10...14) }
    }
}
