import Foundation
import Testing

@testable import BatchPipeline

/// Whole runs over many lines with a model that answers at once, on the real file system: memory must not
/// grow with the lines. By itself it is small, with as little held in memory;
/// PHIBATCH_SCALE_LINES=1000000 shows it in full.
@Suite struct BoundedMemoryTests {
    /// The most memory that the process had so far; nil where it can't be told.
    private static func peak() -> Int? {
        let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status?.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }.map {
            $0 << 10
        }
    }

    private static func writeInput(_ path: String, count: Int) throws {
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        let filler = String(repeating: "All work and no play. ", count: 9)
        for start in stride(from: 0, to: count, by: 1000) {
            let block = (start..<min(start + 1000, count)).map {
                "{\"id\":\"request-\($0)\",\"prompt\":\"\($0) \(filler)\"}\n"
            }.joined()
            try file.write(contentsOf: Data(block.utf8))
        }
        try file.close()
    }

    private static func run(_ folder: TestFolder, count: Int, residentCount: Int) throws -> RunOutcome {
        try writeInput(folder.path("in.jsonl"), count: count)
        let model = ScriptedModel()
        model.endOdds = 1
        let job = JobSettings.test(input: [folder.path("in.jsonl")]) { job in
            job.workers = .count(16)
            job.checkpointInterval = 15
        }
        let store = try JournalStore(
            output: folder.path("out.jsonl"), fingerprint: testFingerprint, residentCount: residentCount)
        let outcome = try Runner(job: job, model: model, store: store).run()
        #expect(model.faults.isEmpty)
        return outcome
    }

    // A sanitizer keeps what is freed for a while.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["PHIBATCH_SANITIZER"] == nil))
    func memoryDoesNotGrowWithTheLines() async throws {
        // In a process of its own, where no other test takes memory.
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            let scale = ProcessInfo.processInfo.environment["PHIBATCH_SCALE_LINES"].flatMap { Int($0) }
            let folder = try TestFolder()
            var peaks: [Int] = []
            let counts = [10_000, scale ?? 60_000]
            for (count, rest) in zip(counts, [0, counts[0]]) {
                let start = ContinuousClock.now
                let outcome = try Self.run(
                    folder, count: count, residentCount: scale == nil ? 1 << 10 : Scratch.defaultResidentCount
                )
                // The second run's first lines are kept from the first one.
                precondition(outcome.status == .complete && outcome.statistics.done == count - rest)
                peaks.append(Self.peak() ?? 0)
                print(
                    "memory: at most \(peaks.last.map { $0 >> 10 } ?? 0) KB with \(count) lines,",
                    "\((ContinuousClock.now - start).seconds) s")
            }
            print("memory: \(Double(peaks[1] - peaks[0]) / Double(counts[1] - counts[0])) bytes a line")
            // The filters take two or three; the rest is the allocator's play.
            precondition(scale != nil || peaks[1] - peaks[0] < 20 * (counts[1] - counts[0]))
        }
        print(String(decoding: result?.standardOutputContent ?? [], as: UTF8.self))
    }
}
