import Foundation
import Testing

/// A system message that an earlier run has seen is read from the cache folder.
@Suite(.tags(.slow), .enabled(if: DemoJob.canRun, "the demo model is not there; make test fetches it"))
struct PrefixRunTests {
    private static let system = (1...50).map { "Rule \($0): be brief." }.joined(separator: " ")

    @Test func theSecondRunReadsWhatTheFirstComputed() throws {
        let job = try DemoJob(
            ["Hello", "One, two", "Why?"].map { #"{"prompt": "\#($0)"}"# },
            ["--max-tokens", "3", "--system", Self.system])
        defer { job.remove() }
        func run(_ more: [String] = []) throws -> (read: Int, kept: Int) {
            let run = try job.run(
                ["--restart"] + more, environment: ["PHIBATCH_CACHE": job.folder + "/cache"])
            #expect(run.status == 0, "\(run.errors)")
            func number(_ words: String) -> Int {
                run.errors.split(separator: "\n").first { $0.contains(words) }
                    .flatMap { $0.firstMatch(of: /([0-9]+) tokens/) }.flatMap { Int($0.1) } ?? 0
            }
            return (number("were in the cache folder"), number("are kept for the next run"))
        }
        let prefixes = job.folder + "/cache/prefixes"
        #expect(try run(["--kv-cache", "off"]) == (0, 0))
        let expected = try #require(job.results)
        #expect(!FileManager.default.fileExists(atPath: prefixes))
        let first = try run()
        #expect(first.read == 0 && first.kept >= 256 && first.kept % 64 == 0)
        #expect(job.results == expected)
        #expect(try run() == (first.kept, 0))
        #expect(job.results == expected)
        #expect(try run(["--kv-cache", "off"]) == (0, 0))
        #expect(try run(["--kv", "f16"]) == (0, first.kept), "of another precision")
    }

    @Test func theSettingIsChecked() throws {
        let job = try DemoJob([#"{"prompt": "Hello"}"#], ["--kv-cache", "of"])
        defer { job.remove() }
        let run = try job.run()
        #expect(
            run.status == 64 && run.errors.contains("--kv-cache must be one of auto, off"), "\(run.errors)")
    }
}
