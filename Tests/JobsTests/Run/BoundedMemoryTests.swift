import Foundation
import TestSupport
import Testing

@testable import BatchPipeline
@testable import Jobs

/// Whole runs over many lines with a model that answers at once, on the real file system: a line takes some 100 bytes
/// of memory, whatever is in it. By itself it is small; PHIBATCH_SCALE_LINES=1000000 shows it in full.
@Suite struct BoundedMemoryTests {
    /// The most memory that the process had so far; nil where it can't be told.
    private static func peak() -> Int? {
        let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status?.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }.map {
            $0 << 10
        }
    }

    private static func writeInput(_ path: String, count: Int, edits: Int) throws {
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        let filler = String(repeating: "All work and no play. ", count: 9)
        for start in stride(from: 0, to: count, by: 1000) {
            let block = (start..<min(start + 1000, count)).map {
                "{\"id\":\"request-\($0)\",\"prompt\":\"\($0 < edits ? "edited" : "") \($0) \(filler)\"}\n"
            }.joined()
            try file.write(contentsOf: Data(block.utf8))
        }
        try file.close()
    }

    /// - Returns: the seconds it took, without making the input.
    private static func run(
        _ folder: TestFolder, count: Int, edits: Int, expected: Int
    ) throws -> Double {
        try writeInput(folder.path("in.jsonl"), count: count, edits: edits)
        let start = ContinuousClock.now
        let model = ScriptedModel()
        model.endOdds = 1
        let job = JobSettings.test(input: [folder.path("in.jsonl")]) { job in
            job.engine.workers = 16
            job.checkpointInterval = 15
        }
        let store = try LogStore(
            output: folder.path("out.jsonl"), fingerprint: testFingerprint)
        let outcome = try Runner(job: job, model: model, store: store).run()
        precondition(outcome.status == .complete && outcome.statistics.done == expected)
        precondition(model.faults.isEmpty)
        return (ContinuousClock.now - start).seconds
    }

    // A sanitizer keeps what is freed for a while.
    @Test(.enabled(if: !isSanitized))
    func aLineTakesLittleMemory() async throws {
        // In a process of its own, where no other test takes memory.
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            let scale = ProcessInfo.processInfo.environment["PHIBATCH_SCALE_LINES"].flatMap { Int($0) }
            let folder = try TestFolder()
            var peaks: [Int] = []
            let (few, many) = (10_000, scale ?? 120_000)
            // The first lines of the second run are kept from the first one, and then all but ten.
            for (count, edits, expected) in [(few, 0, few), (many, 0, many - few), (many, 10, 10)] {
                let seconds = try Self.run(
                    folder, count: count, edits: edits, expected: expected)
                peaks.append(Self.peak() ?? 0)
                print(
                    "memory: at most \(peaks.last ?? 0) bytes with \(count) lines, \(expected) done in \(seconds) s"
                )
            }
            // An id takes up to 43, a result up to 47, and for a moment each table is there twice while it grows; what
            // the allocator keeps of that differs from run to run (160 to 190 bytes a line were seen).
            precondition(peaks[2] - peaks[0] < 256 * (many - few))
        }
        print(String(decoding: result?.standardOutputContent ?? [], as: UTF8.self))
    }
}
