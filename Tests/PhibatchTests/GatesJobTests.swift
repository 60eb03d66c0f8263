import Foundation
import JSON
import Testing

@testable import Jobs
@testable import phibatch

/// Duplicates and enough rows on the embedded model, by the real program.
@Suite(.tags(.slow), .enabled(if: DemoJob.canRun, "the demo model is not there; make test fetches it"))
struct GatesJobTests {
    private static let yaml = #"""
        temperature: 0.9
        max_tokens: 16
        keep: [topic]
        checkpoint_interval: 0.05
        until: 4
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

    private func job() throws -> DemoJob {
        let lines = (0..<60).map { "{\"id\":\"r\($0)\",\"topic\":\"animal \($0)\"}" }
        let job = try DemoJob(lines, ["--workers", "3", "job.yaml"])
        try Data(Self.yaml.utf8).write(to: URL(filePath: job.folder + "/job.yaml"))
        return job
    }

    @Test func forgedDecisionsAreFound() throws {
        let job = try job()
        #expect(try job.run().status == 0)
        let honest = try Forged(settings(job))
        let place = try #require(
            honest.records.firstIndex { $0.result.original != nil })
        func forged(_ change: (inout JSONObject) -> Void) -> Forged {
            var forged = honest
            change(&forged.records[place].result.own)
            return forged
        }
        var short = honest
        short.records.removeLast()
        for (forged, what) in [
            (forged { $0["duplicate_of"] = "r59" }, "is said to be a duplicate of r59"),
            (
                forged { ($0["dropped"], $0["duplicate_of"]) = (nil, nil) },
                "is said to be a duplicate of none"
            ),
            (short, "only 3 of 4 rows are accepted"),
        ] {
            try forged.write()
            let verified = try Program.run(["verify"] + job.arguments(["--sample", "1"]), folder: job.folder)
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
