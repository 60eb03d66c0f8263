import Foundation
import Testing

/// What a run takes beside what the model itself does.
@Suite(.tags(.slow), .enabled(if: DemoJob.canRun, "the demo model is not there; make test fetches it"))
struct RunCostTests {
    /// The job below fills it.
    private static let kvBudget = 32_000_000

    private func job() throws -> DemoJob {
        let lines = (1...40).map { "{\"prompt\": \"Tell me a story about the number \($0).\"}" }
        return try DemoJob(
            lines,
            [
                "--max-tokens", "32", "--ignore-eos", "--kv-budget", "\(Self.kvBudget)", "--speculate", "off",
            ])
    }

    private func run(_ job: DemoJob) throws -> (idle: Double, peak: Int?) {
        let program = try job.start(["--restart"])
        var peak: Int?
        try program.wait(for: "its end") {
            peak = program.peakMemory ?? peak
            return !program.isRunning
        }
        let run = try program.end()
        #expect(run.status == 0, "\(run.errors)")
        let idle = try #require(run.errors.firstMatch(of: /idle ([\d.]+) %/).flatMap { Double($0.1) })
        return (idle, peak)
    }

    @Test func timeAndMemoryAreTheModels() throws {
        let job = try job()
        var (idle, peak) = try run(job)
        // Asked is 1 %, which bench_peers.py measures with a large model. Here the job takes 2 seconds, other
        // tests want the same processors, and one slow sync of the disk is a hundredth or more: the best of a few.
        for _ in 0..<4 where idle >= 5 { idle = min(idle, try run(job).idle) }
        #expect(idle < 5)

        // Packed, the weights take what they take in the checkpoint. Of the 400 MB that Phi-3-mini is allowed
        // beside weights and cache, this smaller model gets half.
        let file = URL(filePath: job.model + "/model.safetensors").resolvingSymlinksInPath()
        let weights = try #require(file.resourceValues(forKeys: [.fileSizeKey]).fileSize)
        #if os(Linux)
            let most = weights + Self.kvBudget + 200_000_000
            #expect(try #require(peak) < most, "\(weights) bytes of weights")
        #endif
    }
}
