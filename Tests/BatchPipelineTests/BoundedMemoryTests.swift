import Foundation
import Testing

@testable import BatchPipeline

/// A whole run over many lines with a model that answers at once, on the real file system: memory must not
/// grow with the lines, but for the index of some bytes a line. PHIBATCH_SCALE_LINES=1000000 shows it in
/// full; by itself it is a small run.
@Suite struct BoundedMemoryTests {
    private static let count =
        ProcessInfo.processInfo.environment["PHIBATCH_SCALE_LINES"].flatMap { Int($0) } ?? 30_000

    /// Resident bytes now; nil where it can't be told.
    private static func resident() -> Int? {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return nil }
        return text.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 * 4096 }
    }

    private func writeInput(_ path: String) throws {
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        let filler = String(repeating: "All work and no play. ", count: 9)
        for start in stride(from: 0, to: Self.count, by: 1000) {
            let block = (start..<min(start + 1000, Self.count)).map {
                "{\"id\":\"request-\($0)\",\"prompt\":\"\($0) \(filler)\"}\n"
            }.joined()
            try file.write(contentsOf: Data(block.utf8))
        }
        try file.close()
    }

    @Test func memoryDoesNotGrowWithTheLines() throws {
        let folder = try TestFolder()
        try writeInput(folder.path("in.jsonl"))
        let model = ScriptedModel()
        model.endOdds = 1
        let job = JobSettings.test(input: [folder.path("in.jsonl")]) { job in
            job.workers = .count(16)
            job.checkpointInterval = 15
        }
        let store = try JournalStore(output: folder.path("out.jsonl"), fingerprint: testFingerprint)
        var early: Int?
        var largest = 0
        var steps = 0
        let start = ContinuousClock.now
        model.beforeStep = { _ in
            steps += 1
            guard steps % 500 == 0, let now = Self.resident() else { return }
            // By then some ten thousand lines are done.
            if steps == 1000 { early = now }
            largest = max(largest, now)
        }
        let outcome = try Runner(job: job, model: model, store: store).run()
        #expect(outcome.status == .complete && outcome.statistics.done == Self.count)
        #expect(model.faults.isEmpty)
        // A sanitizer keeps what is freed for a while.
        if let early, largest > 0, !isSanitized {
            let end = max(largest, Self.resident() ?? 0)
            print(
                "memory: \(early >> 20) MB early, at most \(end >> 20) MB with \(Self.count) lines,",
                "\((ContinuousClock.now - start).seconds) s")
            // The index and the ids seen take about a hundred bytes a line; other tests run beside this one.
            #expect(end - early < 200 * Self.count + 256 << 20)
        }
    }
}
