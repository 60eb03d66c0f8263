import Foundation
import Testing

/// The first lines of an input, as a preview.
@Suite(.tags(.slow), .enabled(if: DemoJob.canRun, "the demo model is not there; make test fetches it"))
struct LimitTests {
    private static let lines = (0..<6).map { "{\"prompt\":\"Count to \($0).\"}" }

    @Test(arguments: ["jsonl", "csv", "json"]) func theWholeGoesOnFromIt(_ format: String) throws {
        let settings = ["--max-tokens", "6", "--temperature", "1", "--output-format", format]
        let whole = try DemoJob(Self.lines, settings)
        defer { whole.remove() }
        #expect(try whole.run().status == 0)
        let job = try DemoJob(Self.lines, settings)
        defer { job.remove() }
        let preview = try job.run(["--limit", "2"])
        #expect(preview.status == 0 && preview.errors.contains("2 lines: 2 done"), "\(preview.errors)")
        for more in [["verify", "--file-only"], ["verify", "--sample", "100%"]] {
            let looked = try RunningProgram(
                [more[0]] + job.arguments(["--limit", "2"] + more.dropFirst()), folder: job.folder
            ).end()
            #expect(looked.status == 0, "\(more) \(looked.output) \(looked.errors)")
        }
        let rest = try job.run()
        #expect(
            rest.status == 0 && rest.errors.contains("4 done, 0 failed, 2 done before"), "\(rest.errors)")
        #expect(job.results == whole.results)
        // Fewer lines would lose results.
        let fewer = try job.run(["--limit", "2"])
        #expect(fewer.status != 0 && fewer.errors.contains("--prune"), "\(fewer.errors)")
        #expect(job.results == whole.results)
    }

    @Test func itIsNoShard() throws {
        let job = try DemoJob(Self.lines, ["--limit", "2", "--shard", "1/2"])
        defer { job.remove() }
        let run = try job.run()
        #expect(
            run.status == 64 && run.errors.contains("--limit can't be combined with shard"), "\(run.errors)")
    }
}
