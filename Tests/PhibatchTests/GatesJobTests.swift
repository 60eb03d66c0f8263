import Foundation
import Testing

@testable import Jobs
@testable import phibatch

/// Duplicates and enough rows on the embedded model, by the real program.
@Suite(.tags(.slow), .enabled(if: DemoJob.canRun, "the demo model is not there; make test fetches it"))
struct GatesJobTests {
    private static func yaml(until: Int) -> String {
        #"""
        temperature: 0.9
        max_tokens: 16
        keep: [topic]
        checkpoint_interval: 0.05
        until: \#(until)
        steps:
          - name: word
            prompt: "{{ topic }}"
            regex: "(red|green|blue) (cat|dog|bird|fish)"
            distinct: word.text
          - name: judge
            prompt: "{{ word.text }}, {{ topic }}"
            choices: ["yes", "no"]
            accept: judge.probabilities.yes > 0.4
          - name: line
            prompt: "A line about {{ word.text }}:"
            distinct: {text: line.text, near: 0.9}
        """#
    }

    private func job(_ count: Int = 60, until: Int = 4) throws -> DemoJob {
        let lines = (0..<count).map { "{\"id\":\"r\($0)\",\"topic\":\"animal \($0)\"}" }
        let job = try DemoJob(lines, ["--workers", "3", "job.yaml"])
        try write(job, until: until)
        return job
    }

    private func write(_ job: DemoJob, until: Int) throws {
        try Data(Self.yaml(until: until).utf8).write(to: URL(filePath: job.folder + "/job.yaml"))
    }

    private func program(
        _ command: [String], _ job: DemoJob, _ more: [String] = []
    ) throws -> (status: Int32, output: String, errors: String) {
        let ended = try RunningProgram(command + job.arguments(more), folder: job.folder).end()
        return (ended.status, ended.output, ended.errors)
    }

    @Test func killedAnywhereTheSameRowsAreEnough() throws {
        let undisturbed = try job()
        defer { undisturbed.remove() }
        let whole = try undisturbed.run()
        #expect(whole.status == 0, "\(whole.errors)")
        let expected = try #require(undisturbed.results)
        #expect(expected.count { !$0.contains("\"dropped\":") } == 4)
        #expect(expected.contains { $0.contains("\"dropped\":\"word\",\"duplicate_of\":\"r") }, "\(expected)")
        #expect(expected.last?.contains("\"dropped\":") == false && expected.count < 60)
        for seed in [UInt64(1), 2] {
            let job = try job()
            defer { job.remove() }
            var kills = 0
            while job.results == nil, kills < 8 {
                let program = try job.start()
                var looks = 0
                try program.wait(for: "a result, or the end") {
                    looks += job.log.isEmpty ? 0 : 1
                    return looks > kills * 3 + Int(seed) || job.results != nil
                }
                program.send(SIGKILL)
                _ = try program.end()
                kills += 1
            }
            let last = try job.run()
            #expect(last.status == 0, "\(last.errors)")
            #expect(job.results == expected)
        }
        for command in [["verify", "--sample", "100%"], ["verify", "--file-only"], ["status"]] {
            let looked = try program([command[0]], undisturbed, Array(command.dropFirst()))
            #expect(looked.status == 0, "\(command) \(looked)")
            if command[0] == "status" { #expect(looked.output.contains("rows       "), "\(looked)") }
        }
        let again = try undisturbed.run()
        #expect(again.status == 0 && again.errors.contains("nothing to do"), "\(again.errors)")
    }

    @Test func forgedDecisionsAreFound() throws {
        let job = try job()
        defer { job.remove() }
        #expect(try job.run().status == 0)
        let honest = try Forged(settings(job))
        let place = try #require(
            honest.records.firstIndex { ($0.result.made as? StepsResult)?.original != nil })
        func forged(_ change: (inout StepsResult) -> Void) throws -> Forged {
            var forged = honest
            var row = try #require(honest.records[place].result.made as? StepsResult)
            change(&row)
            forged.records[place].result.content = .made(row)
            return forged
        }
        var short = honest
        short.records.removeLast()
        for (forged, what) in [
            (try forged { $0.original = "r59" }, "is said to be a duplicate of r59"),
            (try forged { ($0.dropped, $0.original) = (nil, nil) }, "and not dropped as one"),
            (short, "only 3 of 4 rows are accepted"),
        ] {
            try forged.write()
            let verified = try program(["verify"], job, ["--sample", "1"])
            #expect(verified.status != 0 && "\(verified)".contains(what), "\(verified)")
        }
    }

    private func settings(_ job: DemoJob) throws -> JobSettings {
        let arguments = job.arguments().map { $0 == "job.yaml" ? job.folder + "/" + $0 : $0 }
        var settings = try JobOptions.parse(arguments).settings()
        (settings.input, settings.output) = ([job.folder + "/in.jsonl"], job.folder + "/out.jsonl")
        return settings
    }
}
