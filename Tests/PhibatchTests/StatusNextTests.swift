import Foundation
import Testing

/// What `status` says to do next, done; and what it says of results that were made with several settings.
@Suite(.tags(.slow), .enabled(if: DemoJob.canRun, "the demo model is not there; make test fetches it"))
struct StatusNextTests {
    private static func lines(_ range: Range<Int>) -> [String] {
        range.map { "{\"id\": \"it's \($0)\", \"prompt\": \"Say \($0).\", \"topic\": \"x\"}" }
    }

    private func put(_ lines: [String], _ job: DemoJob) throws {
        try lines.map { $0 + "\n" }.joined()
            .write(toFile: job.folder + "/in.jsonl", atomically: true, encoding: .utf8)
    }

    private func status(_ job: DemoJob, _ more: [String]) throws -> (code: Int32, json: [String: Any]) {
        let run = try Program.run(["status", "--json"] + job.arguments(more), folder: job.folder)
        let json = try JSONSerialization.jsonObject(with: Data(run.output.utf8))
        return (run.status, try #require(json as? [String: Any], "\(run)"))
    }

    /// One way to come to where earlier results are in the way, or are not.
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var settings: [String] = []
        /// After the first run.
        var change: @Sendable (StatusNextTests, DemoJob) throws -> Void = { _, _ in }
        /// With which it is run and asked about then.
        var more: [String] = []
        /// What is to be done.
        var next: String
    }

    static let cases = [
        Case(
            testDescription: "lines that are new", change: { try $0.put(lines(0..<6), $1) },
            next: " does what is new"),
        Case(
            testDescription: "most lines gone", change: { try $0.put(lines(3..<6), $1) },
            next: " --prune does what is new"),
        Case(
            testDescription: "all lines gone", change: { try $0.put(lines(7..<9), $1) },
            next: " --prune does what is new"),
        Case(testDescription: "other settings", more: ["--seed", "5"], next: " --if-changed keep does"),
        Case(
            testDescription: "other settings, and lines gone", change: { try $0.put(lines(3..<6), $1) },
            more: ["--seed", "5"], next: " --if-changed keep --prune does"),
        Case(
            testDescription: "other columns", settings: ["--output-format", "csv"],
            more: ["--keep", "topic"], next: " --if-changed keep does"),
        Case(
            testDescription: "no log", settings: ["--output-format", "csv"],
            change: { try FileManager.default.removeItem(atPath: $1.folder + "/out.jsonl.log") },
            next: " --restart begins again"),
        Case(
            testDescription: "another's file",
            change: {
                try "mine\n".write(toFile: $1.folder + "/out.jsonl", atomically: true, encoding: .utf8)
            },
            next: " does what is new"),
        Case(
            testDescription: "a quoted argument", change: { try $0.put(lines(0..<6), $1) },
            more: ["--stop", "don't $stop"], next: " --if-changed keep does"),
    ]

    @Test(arguments: cases)
    func theNextCommandWorks(one: Case) throws {
        let job = try DemoJob(Self.lines(0..<4), ["--max-tokens", "2"] + one.settings)
        #expect(try job.run().status == 0)
        try one.change(self, job)
        let found = try status(job, one.more)
        let next = try #require(found.json["next"] as? String)
        #expect(found.code == 14 && next.contains(one.next), "\(found)")
        try runAll(next, job)
        let after = try status(job, one.more)
        #expect(after.code == 0, "\(after)")
    }

    @Test func aLimitChangesNoInput() throws {
        let job = try DemoJob(Self.lines(0..<4), ["--max-tokens", "2"])
        #expect(try job.run(["--limit", "2"]).status == 0)
        let found = try status(job, [])
        let reason = found.json["reason"] as? String
        #expect(found.code == 14 && reason?.hasPrefix("results are missing: 2") == true, "\(found)")
    }

    /// Runs each command that a sentence names.
    private func runAll(_ next: String, _ job: DemoJob) throws {
        let commands = next.split(separator: "; ").compactMap { part in
            part.firstMatch(of: /^phibatch (run .*?) (?:does what|begins|goes on)/).map { String($0.1) }
        }
        #expect(!commands.isEmpty, "\(next)")
        let command = try #require(commands.first)
        let process = try RunningProgram(
            ["-c", "\"$0\" " + command, Program.path ?? ""], folder: job.folder, program: "/bin/sh")
        let run = try process.end()
        #expect(run.status == 0, "\(command): \(run.errors)")
    }

    @Test func anInterruptedRunOfOtherSettingsGoesOnAsItSays() throws {
        let long = ["--max-tokens", "300", "--ignore-eos", "--speculate", "off", "--workers", "1"]
        let job = try DemoJob(Self.lines(0..<3), long)
        let program = try job.start(["--checkpoint-interval", "0"])
        try program.wait(for: "results under way") {
            job.hasSavedTokens
        }
        program.send(SIGTERM)
        _ = try program.end()
        let stopped = try status(job, [])
        #expect(
            stopped.code == 12 && (stopped.json["next"] as? String)?.hasSuffix("goes on") == true,
            "\(stopped)")
        let other = try DemoJob([], ["--max-tokens", "3"])
        let changed = try Program.run(
            ["status", "--json", "--model", job.model, "--input", "in.jsonl", "--output", "out.jsonl"]
                + other.settings, folder: job.folder)
        let json = try JSONSerialization.jsonObject(with: Data(changed.output.utf8)) as? [String: Any]
        let next = try #require(json?["next"] as? String)
        #expect(changed.status == 12 && next.contains("--if-changed keep"), "\(changed)")
        try runAll(next, job)
    }

    @Test(arguments: [[], ["--output-format", "csv"], ["--output-format", "openai"]])
    func mixedResultsAreCounted(format: [String]) throws {
        let job = try DemoJob(Self.lines(0..<3), ["--max-tokens", "2"] + format)
        let first = try job.run()
        #expect(first.status == 0 && !first.errors.contains("results were made"), "\(first.errors)")
        try put(Self.lines(0..<5), job)
        let settings = ["run", "--model", job.model, "--input", "in.jsonl", "--output", "out.jsonl"] + format
        let mixed = ["2 results were made with these settings", "3 results were made with other settings"]
        let changed = "changed since: job.max_tokens: 2 -> 3"
        for more in [["--if-changed", "keep"], []] {
            let run = try Program.run(settings + ["--max-tokens", "3"] + more, folder: job.folder)
            #expect(run.status == 0, "\(run.errors)")
            for one in mixed + [changed] { #expect(run.errors.contains(one), "\(run.errors)") }
        }
        for arguments in [["out.jsonl"], Array(settings.dropFirst()) + ["--max-tokens", "3"]] {
            let text = try Program.run(["status"] + arguments, folder: job.folder)
            #expect(text.status == 0 && text.output.contains("complete"), "\(text)")
            for one in mixed + [changed] { #expect(text.output.contains(one), "\(text)") }
            let json = try Program.run(["status", "--json"] + arguments, folder: job.folder)
            #expect(
                json.output.contains("\"results\":3,\"changed_since\":[\"job.max_tokens: 2 -> 3\"]"),
                "\(json)")
        }
        // What is kept can't be made again with these settings, and that is said.
        let verified = try Program.run(
            ["verify", "-q", "--sample", "1"] + Array(settings.dropFirst()) + ["--max-tokens", "3"],
            folder: job.folder)
        #expect(verified.output.contains("3 results that are kept of run"), "\(verified)")
    }
}
