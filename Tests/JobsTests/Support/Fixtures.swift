import BatchEngine
import BatchPipeline

@_exported import class TestSupport.TemporaryFolder

@testable import Jobs

extension JobSettings {
    static func test(input: [String], _ change: (inout JobSettings) -> Void = { _ in }) -> JobSettings {
        var job = JobSettings()
        job.model = "model"
        job.input = input
        job.output = "out.jsonl"
        job.checkpointInterval = 0
        // How many tokens are guessed depends on what steps take.
        job.engine.speculation = .off
        change(&job)
        return job
    }
}

extension OwnedRequest {
    static func test(_ position: Int, _ request: Request = Request(prompt: [1], kind: Scoring([1]))) -> Self {
        let label = RequestLabel(
            position: position, index: position, sample: 0,
            key: ResultKey(id: "\(position)", sample: 0, contentHash: 0), file: "in.jsonl",
            lineNumber: position + 1)
        return OwnedRequest(request: request, label: label) { _ in .more([]) }
    }
}

/// A result without what may differ: its times, and the digests of steps, which name the model.
func withoutTiming(_ line: String) -> String {
    (line.firstRange(of: ",\"timing\":").map { String(line[..<$0.lowerBound]) } ?? line)
        .replacing(/,"asked":"[0-9a-f]{16}"/, with: "")
}
