import Foundation
import JSON
import Testing

@testable import phibatch

/// What people trip over, tried with the real program.
@Suite(.tags(.slow), .enabled(if: DemoJob.canRun, "the demo model is not there; make test fetches it"))
struct FirstWeekTests {
    /// Off a terminal each line has the time and the job's name; and a warning is said once.
    @Test func logLinesNameTheJob() throws {
        let job = try DemoJob(
            (0..<3).map { "{\"prompt\": \"Say \($0).\", \"temprature\": 1}" }, ["--max-tokens", "1"])
        let run = try job.run()
        #expect(run.errors.matches(of: /temprature: like a setting/).count == 1, "\(run.errors)")
        let lines = run.errors.split(separator: "\n")
        #expect(!lines.isEmpty)
        for line in lines {
            #expect(
                line.contains(#/^20\d\d-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-5]\dZ phibatch\[out\.jsonl\]: /#),
                "\(line)")
        }
    }

    /// For programs that read logs, and for monitors.
    @Test func logsAndMetricsForPrograms() throws {
        let job = try DemoJob(
            ["{\"prompt\": \"Hi\"}", "oops"], ["--max-tokens", "2", "--log-format", "json"])
        let run = try job.run(["--metrics-file", "m.prom"])
        #expect(run.status == 3, "\(run.errors)")
        for line in run.errors.split(separator: "\n") {
            let entry = try JSONValue(parsing: Array(line.utf8), limits: .line)
            #expect(entry.string("job") == "out.jsonl" && entry.string("level") != nil)
            #expect(entry.string("message")?.isEmpty == false && entry.string("time")?.count == 20)
        }
        // Figures are members, and no program has to read sentences.
        let entries = try run.errors.split(separator: "\n").map {
            try JSONValue(parsing: Array($0.utf8), limits: .line)
        }
        let summary = try #require(entries.first { $0["event"] == "summary" })
        #expect(summary["lines"] == 2 && summary["done"] == 1 && summary["failed_lines"] == 1)
        #expect(entries.contains { $0["completion_tokens"] == 2 && $0["seconds"]?.number != nil })
        #expect(
            entries.contains { $0["errors"] == ["invalid_json": 1] && $0["finish_reasons"] == ["length": 1] })
        #expect(
            entries.contains { $0["request_seconds_p50"]?.number != nil && $0["peak_memory_bytes"] != nil })
        let failure = try #require(entries.first { $0["max_failures"] == 0 })
        #expect(failure["failed_lines"] == 1)
        guard case .array(let failures)? = failure["failures"] else {
            return #expect(Bool(false), "\(failure)")
        }
        #expect(failures.map { $0["line"] } == [2] && failures.map { $0["code"] } == ["invalid_json"])
        let metrics = try String(contentsOfFile: job.folder + "/m.prom", encoding: .utf8)
        for line in [
            "running{job=\"out.jsonl\"} 0", "exit_status{job=\"out.jsonl\"} 3",
            "results{job=\"out.jsonl\"} 2",
            "results_failed{job=\"out.jsonl\"} 1", "completion_tokens{job=\"out.jsonl\"} ",
        ] { #expect(metrics.contains("\nphibatch_" + line), "\(metrics)") }
        #expect(try job.run(["--metrics-file", "in.jsonl"]).status == 65)
        #expect(try job.files.filter { $0.hasPrefix("m.prom") } == ["m.prom"])
    }

    @Test func progressStaysInItsLine() {
        #expect(
            Console.cut("138/500 27 %  1,011 tokens/s", columns: 80).text == "138/500 27 %  1,011 tokens/s")
        #expect(Console.cut("138/500 27 %  1,011 tokens/s", columns: 13).text == "138/500 27 %")
        // A wide character takes two columns.
        #expect(Console.cut("\("漢字") loading", columns: 6).text == "漢字 ")
        #expect(Console.cut("ab", columns: 0).text == "a")
    }
}
