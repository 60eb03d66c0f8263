import BatchPipeline
import Foundation

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

let isSanitized = ProcessInfo.processInfo.environment["PHIBATCH_SANITIZER"] != nil

/// What a time limit is multiplied by: sanitizers make all code many times slower.
let patience: Double = isSanitized ? 20 : 1

/// Random numbers that are the same on every run (splitmix64).
struct FixedRandom: RandomNumberGenerator {
    private var state: UInt64
    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

extension JobSettings {
    static func test(input: [String], _ change: (inout JobSettings) -> Void = { _ in }) -> JobSettings {
        var job = JobSettings()
        job.model = "model"
        job.input = input
        job.output = "out.jsonl"
        job.checkpointInterval = 0
        change(&job)
        return job
    }
}

/// A result without its `timing`, which is the only part that may differ.
func withoutTiming(_ line: String) -> String {
    line.firstRange(of: ",\"timing\":").map { String(line[..<$0.lowerBound]) } ?? line
}
