import Foundation
import Testing

@testable import BatchPipeline
@testable import Jobs

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A closed pipe is an error, and no signal, in a process that doesn't ignore SIGPIPE; a failure ends the test's
/// process.
@Suite struct PipeSignalTests {
    @Test func aClosedStreamEndsNoProcess() throws {
        let before = signal(SIGPIPE, SIG_DFL)
        defer { signal(SIGPIPE, before) }
        let pipe = Pipe()
        try pipe.fileHandleForReading.close()
        let store = StreamStore(
            descriptor: pipe.fileHandleForWriting.fileDescriptor, fingerprint: testFingerprint)
        let lines = TestLine.make(2)
        for (position, line) in lines.enumerated() { _ = try store.claim(line.key, position: position) }
        let error = #expect(throws: UserError.self) {
            try store.append(lines[0].result, key: lines[0].key, position: 0)
        }
        #expect(error?.kind == .closedStream)
        #expect(throws: UserError.self) { try store.finish(count: 2) }
        var blocked = sigset_t()
        pthread_sigmask(SIG_BLOCK, nil, &blocked)
        #expect(sigismember(&blocked, SIGPIPE) == 0, "the thread's mask is as before")
        let now = signal(SIGPIPE, SIG_DFL)
        #expect(
            unsafeBitCast(now, to: Int.self) == unsafeBitCast(SIG_DFL, to: Int.self),
            "and the process's handler")
    }
}
