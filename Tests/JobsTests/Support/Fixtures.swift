import BatchPipeline
import Foundation

@testable import Jobs

/// A folder that is gone when the test is.
final class TemporaryFolder {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.path + "/phibatch-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func write(_ text: String, to name: String) throws -> String { try write(Array(text.utf8), to: name) }

    func write(_ bytes: [UInt8], to name: String) throws -> String {
        let file = path + "/" + name
        try Data(bytes).write(to: URL(fileURLWithPath: file))
        return file
    }
}

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

extension RequestLabel {
    static func test(_ position: Int) -> RequestLabel {
        RequestLabel(
            position: position, index: position, sample: 0,
            key: ResultKey(id: "\(position)", sample: 0, contentHash: 0), file: "in.jsonl",
            lineNumber: position + 1)
    }
}

/// A result without its `timing`, which is the only part that may differ.
func withoutTiming(_ line: String) -> String {
    line.firstRange(of: ",\"timing\":").map { String(line[..<$0.lowerBound]) } ?? line
}
