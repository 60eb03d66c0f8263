import Foundation
import Testing

/// What fuzzing found, and what it found its way by, once more: no crash, no hang, no other error than ours.
@Suite struct ReplayTests {
    private static let corpus = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "corpus")

    @Test(arguments: FuzzTarget.all.map(\.name)) func corpusOf(_ name: String) throws {
        let folder = Self.corpus.appending(path: name)
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .sorted { $0.path < $1.path }
        #expect(!files.isEmpty)
        let inputs = try files.map { ($0.lastPathComponent, Array(try Data(contentsOf: $0))) }
        #expect(try findings(name, inputs) == [])
    }
}

/// What goes wrong with these inputs.
func findings(_ name: String, _ inputs: [(name: String, bytes: [UInt8])]) throws -> [String] {
    let target = try #require(FuzzTarget.named(name))
    let scratch = try ScratchFolder()
    return onSmallStack {
        inputs.compactMap { input in
            let start = processorSeconds()
            do { try target.run(input.bytes, scratch) } catch { return "\(input.name): \(error)" }
            // Milliseconds, but for the largest; a sanitizer may take ten times as long.
            let taken = processorSeconds() - start
            return taken < 10 ? nil : "\(input.name): took \(taken) s"
        }
    }
}

/// Runs `body` on a thread with as little stack as any of the program's threads has on any system; with more
/// under the address sanitizer, which puts guards around everything on the stack.
private func onSmallStack(_ body: @escaping @Sendable () -> [String]) -> [String] {
    final class Answer: @unchecked Sendable {
        var findings: [String] = []
        let isDone = DispatchSemaphore(value: 0)
    }
    let answer = Answer()
    let thread = Thread {
        answer.findings = body()
        answer.isDone.signal()
    }
    let isSanitized = ProcessInfo.processInfo.environment["PHIBATCH_SANITIZER"] != nil
    thread.stackSize = isSanitized ? 4 << 20 : 512 << 10
    thread.start()
    answer.isDone.wait()
    return answer.findings
}

/// The time of this thread: other tests and other processes must not count.
private func processorSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
}
