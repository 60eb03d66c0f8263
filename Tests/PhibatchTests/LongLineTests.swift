import Foundation
import Testing

/// One line far too long for the model: an error of that line, at little cost.
@Suite(.tags(.slow), .enabled(if: DemoJob.canRun, "the demo model is not there; make test fetches it"))
struct LongLineTests {
    private struct Outcome {
        var errors: [String]
        var peak: Int
        /// Processor time, so that what else the machine does is no matter.
        var seconds: Double
    }

    /// Runs a job of a good line and others.
    private func run(_ lines: [Data]) throws -> Outcome {
        let good = Data("{\"id\":\"good\",\"prompt\":\"hi\"}".utf8)
        let input = ([good] + lines).reduce(into: Data()) { $0 += $1 + Data("\n".utf8) }
        let job = try DemoJob(
            input, ["--max-tokens", "2", "--max-failures", "\(lines.count)", "--kv-budget", "32MB"])
        defer { job.remove() }
        let program = try job.start()
        var (peak, seconds) = (0, 0.0)
        try program.look {
            peak = max(peak, program.peakMemory ?? 0)
            seconds = max(seconds, program.processorSeconds ?? 0)
        }
        let result = try program.end()
        #expect(result.status == 0, "\(result.errors)")
        return Outcome(errors: Array(try #require(job.results).dropFirst()), peak: peak, seconds: seconds)
    }

    private static func prompt(_ unit: String, _ bytes: Int) -> Data {
        let count = bytes / unit.utf8.count
        return Data("{\"prompt\":\"".utf8) + Data(String(repeating: unit, count: count).utf8)
            + Data("\"}".utf8)
    }

    @Test func theyCostLittleMemoryAndTime() throws {
        let base = try run([])
        for (line, code) in [
            (Self.prompt("x", 16_000_000), "prompt_too_long"),
            (Self.prompt("Tell me a story. ", 16 << 20), "prompt_too_long"),
            (Self.prompt("\\u65e5", 16 << 20), "prompt_too_long"),
            (Self.prompt("x", 64_000_000), "line_too_long"),
        ] {
            let outcome = try run([line])
            let error = try #require(outcome.errors.first)
            #expect(error.contains("\"code\":\"\(code)\""), "\(error.prefix(300))")
            if code == "prompt_too_long" {
                #expect(error.contains("more than 8191 tokens"), "\(error.prefix(300))")
            }
            #if os(Linux)
                // The model takes some 150 MB of it.
                #expect(outcome.peak < 300_000_000, "\(outcome.peak) bytes")
            #endif
            #expect(outcome.seconds < base.seconds + 30, "\(outcome.seconds) s, not \(base.seconds)")
        }
    }

    /// What lies beside the prompt does not count.
    @Test func aLongFieldThatIsNotUsedIsNoMatter() throws {
        let filler = String(repeating: "y", count: 8 << 20)
        let outcome = try run([Data("{\"prompt\":\"hi\",\"source\":\"\(filler)\"}".utf8)])
        #expect(try #require(outcome.errors.first).contains("\"text\":"))
    }
}
