import Foundation
import TestSupport
import Testing

@testable import BatchPipeline
@testable import Jobs

/// A large job, of 50,000 lines unless PHIBATCH_SCALE_LINES says otherwise.
@Suite struct CheckpointScaleTests {
    private static let count =
        ProcessInfo.processInfo.environment["PHIBATCH_SCALE_LINES"].flatMap { Int($0) } ?? 50_000

    private func key(_ number: Int) -> WorkKey {
        WorkKey(id: "request-\(number)", contentHash: UInt64(number) &* 0x9e37_79b9_7f4a_7c15)
    }

    private let result = GenerationResult(
        GeneratedResult(
            text: String(repeating: "All work and no play. ", count: 7), finishReason: .stop,
            promptTokens: 12, completionTokens: 40, seed: 17),
        timing: .init(queued: 0.25, prefill: 0.125, decode: 1.5, tokensPerSecond: 26.67))

    private func timed<T>(_ what: String, _ body: () throws -> T) throws -> T {
        let start = JournalStore.monotonicSeconds()
        var result: T?
        let computed = try processorSeconds { result = try body() }
        let seconds = JournalStore.monotonicSeconds() - start
        print(
            "scale: \(what) \((seconds * 1000).rounded() / 1000) s for \(Self.count) lines, peak RSS \(peak())"
        )
        #expect(computed < max(5, Double(Self.count) / 20_000) * patience, "\(what)")
        return try #require(result)
    }

    private func peak() -> String {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        return status.split(separator: "\n").first { $0.hasPrefix("VmHWM") }.map(String.init) ?? "unknown"
    }

    @Test func writeResumeFinishRepeatEdit() throws {
        let folder = try TestFolder()
        let count = Self.count
        var store = try JournalStore(output: folder.path("out.jsonl"), fingerprint: testFingerprint)
        try timed("append") {
            for position in 0..<count { _ = try store.claim(key(position), position: position) }
            // In blocks of 16, back to front, as workers would end.
            for position in 0..<count {
                let place = min(count - 1, position | 15) - (position & 15)
                try store.append(result, key: key(place), position: place)
            }
            try store.suspend()
        }
        store = try timed("open") {
            try JournalStore(output: folder.path("out.jsonl"), fingerprint: testFingerprint)
        }
        let done = try timed("claim") {
            try (0..<count).count { try store.claim(key($0), position: $0) == .done(failed: false) }
        }
        #expect(done == count)
        _ = try timed("status") { try JobStatus.read(output: folder.path("out.jsonl")) }
        try timed("finish") { try store.finish(count: count) }
        store = try timed("scan of the output") {
            try JournalStore(output: folder.path("out.jsonl"), fingerprint: testFingerprint)
        }
        for position in 0..<count { _ = try store.claim(key(position), position: position) }
        try store.finish(count: count)
        #expect(!store.didReplaceOutput)
        // The whole input in another order, and one line edited.
        store = try JournalStore(output: folder.path("out.jsonl"), fingerprint: testFingerprint)
        var order = Array(0..<count)
        var generator = SystemlessGenerator(state: 1)
        order.shuffle(using: &generator)
        for (position, number) in order.enumerated() {
            var key = key(number)
            if position == 10 { key.contentHash = 1 }
            if try store.claim(key, position: position) == .new {
                try store.append(result, key: key, position: position)
            }
        }
        #expect(store.report == ResumeReport(kept: count - 1, changed: 1))
        try timed("finish in random order") { try store.finish(count: count) }
        #expect(store.didReplaceOutput)
    }
}
