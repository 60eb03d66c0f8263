import Foundation
import Testing

/// The cache of packed weights, as a run uses it.
@Suite(.tags(.slow), .enabled(if: DemoJob.canRun, "the demo model is not there; make test fetches it"))
struct WeightCacheRunTests {
    @Test func resultsAreTheSameWithAndWithoutIt() throws {
        let job = try DemoJob(Array(DemoJob.samples().prefix(4)), ["--max-tokens", "8"])
        defer { job.remove() }
        func results(_ cache: String, notes: Int = 0) throws -> [String]? {
            let run = try job.run(["--restart"], environment: ["PHIBATCH_CACHE": cache])
            #expect(run.status == 0, "\(run.errors)")
            let said = run.errors.components(separatedBy: "packed weights are not kept").count - 1
            #expect(said == notes, "\(run.errors)")
            return job.results
        }
        let expected = try #require(try results("off"))
        let folder = job.folder + "/new/cache"
        #expect(!FileManager.default.fileExists(atPath: folder))
        #expect(try results(folder) == expected, "packed into the cache")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder + "/weights").count == 1)
        #expect(try results(folder) == expected, "mapped from the cache")
        #expect(try results(job.folder + "/in.jsonl/no/folder", notes: 1) == expected)
    }
}
