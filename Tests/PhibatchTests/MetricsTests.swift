import BatchPipeline
import Foundation
import Testing

@testable import phibatch

/// The numbers that a monitor reads while a run goes on.
@Suite struct MetricsTests {
    private let scratch: ScratchFolder
    private var path: String { scratch.path + "/m.prom" }

    init() throws { scratch = try ScratchFolder() }

    private func numbers(_ name: String) throws -> [String] {
        try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
            .filter { $0.hasPrefix("phibatch_\(name){") }
    }

    @Test func numbersAreWrittenWhileTheRunGoesOn() throws {
        var now = ContinuousClock.now
        let report = ProgressReport(
            console: Console(isQuiet: true), metrics: try MetricsFile(path: path), now: { now })
        var statistics = RunStatistics()
        func update(_ done: Int) throws -> [String] {
            statistics.done = done
            report.update(statistics, of: "a", statistics)
            return try numbers("results_done")
        }
        report.begin("a")
        #expect(try numbers("results_done") == ["phibatch_results_done{job=\"a\"} 0"])
        #expect(try update(3) == ["phibatch_results_done{job=\"a\"} 3"])
        #expect(try update(4) == ["phibatch_results_done{job=\"a\"} 3"], "too soon")
        now += .seconds(5)
        #expect(try update(7) == ["phibatch_results_done{job=\"a\"} 7"])
        // What was done before an error stays.
        report.end("a", statistics, status: 74)
        #expect(try numbers("results_done") == ["phibatch_results_done{job=\"a\"} 7"])
        #expect(try numbers("exit_status") == ["phibatch_exit_status{job=\"a\"} 74"])
    }

    @Test func rowsAreCountedByWhatBecameOfThem() throws {
        let metrics = try MetricsFile(path: path)
        var statistics = RunStatistics()
        try metrics.write(statistics, of: "plain", status: nil)
        #expect(try numbers("rows_accepted").isEmpty && numbers("rows_dropped").isEmpty)
        statistics.wanted = 9
        statistics.tally = [
            .dropped(by: "judge", .notAccepted): 2, .dropped(by: "question", .duplicate): 1,
            .dropped(by: "judge", .duplicate): 4,
        ]
        try metrics.write(statistics, of: "a", status: nil)
        #expect(try numbers("rows_accepted") == ["phibatch_rows_accepted{job=\"a\"} 0"])
        #expect(try numbers("rows_wanted") == ["phibatch_rows_wanted{job=\"a\"} 9"])
        #expect(
            try numbers("rows_dropped") == [
                "phibatch_rows_dropped{job=\"a\",step=\"judge\",reason=\"duplicate\"} 4",
                "phibatch_rows_dropped{job=\"a\",step=\"judge\",reason=\"not_accepted\"} 2",
                "phibatch_rows_dropped{job=\"a\",step=\"question\",reason=\"duplicate\"} 1",
            ])
    }

    @Test func jobsOfOneNameAreToldApart() {
        func names(_ files: String?...) -> [String] {
            RunCommand.names(files.map { ($0, "out/x.jsonl") }).map(\.text)
        }
        #expect(names("jobs/demo.yaml") == ["demo"])
        #expect(names(nil) == ["x.jsonl"])
        #expect(names("a/job.yaml", "b/job.yaml", "c/other.yaml") == ["a/job.yaml", "b/job.yaml", "other"])
        #expect(names("job.yaml", "job.json") == ["job.yaml", "job.json"])
    }
}
