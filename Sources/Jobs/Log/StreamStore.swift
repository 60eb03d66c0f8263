import FoundationShim
import OperatingSystem

/// Results that go to a stream (`output: -`) in input order, as soon as no earlier one is missing.
///
/// There is no file beside a stream, so there is no log and no resuming. Results that come early
/// are held in memory, as a log would have them; `positionLimit` keeps that bounded.
package final class StreamStore: ResultStore {
    private let descriptor: Int32
    private let run: String
    private var encoder: ResultEncoder
    private let heldLimit: Int
    private var held: [Int: [UInt8]] = [:]
    private var heldBytes = 0
    /// Bytes that come next: at first the beginning of the output.
    private var unwritten: [UInt8] = []
    private var next = 0
    private var claimed = 0
    /// Results from this position on are not needed.
    private var end = Int.max
    private var failure: UserError?

    /// - Parameters:
    ///   - descriptor: where to write; 1 is stdout. It is not closed.
    ///   - format: how the results look.
    ///   - heldLimit: bytes of early results from which on no new positions should be started.
    package init(
        descriptor: Int32 = 1, fingerprint: RunFingerprint, samples: Int = 1,
        format: ResultFormat = ResultFormat.jsonl, heldLimit: Int = 64 << 20
    ) {
        precondition(samples > 0, "a line has at least one sample")
        self.descriptor = descriptor
        run = fingerprint.digest
        encoder = ResultEncoder(format, samples: samples)
        self.heldLimit = heldLimit
        encoder.begin(&unwritten)
    }

    package func endsEarly(at count: Int) { end = count }

    package var positionLimit: Int? { heldBytes < heldLimit ? .max : next + 1 }

    package func claim(_ key: ResultKey, position: Int) throws -> StoredState {
        if let failure { throw failure }
        precondition(position == claimed, "positions are claimed in order")
        claimed += 1
        return .new
    }

    /// - Throws: `UserError` of kind `closedStream` if the reader has gone, else `io`.
    package func append(_ result: GenerationResult, key: ResultKey, position: Int) throws {
        if let failure { throw failure }
        precondition(position >= next && position < claimed && held[position] == nil, "each position once")
        let record = ResultRecord(key: key, repetition: 0, run: run, result: result)
        guard position == next else {
            let line = record.line
            heldBytes += line.count
            held[position] = line
            return
        }
        try put(record)
        while next < end, let line = held.removeValue(forKey: next) {
            heldBytes -= line.count
            guard let record = line.withUnsafeBytes({ ResultRecord($0) }) else {
                preconditionFailure("a record of ours can be read")
            }
            try put(record)
        }
    }

    /// The result of the next position.
    private func put(_ record: ResultRecord) throws {
        encoder.append(record, to: &unwritten)
        next += 1
        try write()
    }

    private func write() throws {
        do {
            try Self.withoutPipeSignal(try Files.write(unwritten, to: descriptor))
            unwritten.removeAll(keepingCapacity: true)
        } catch {
            let failure =
                error.code == EPIPE
                ? UserError(
                    .closedStream, at: "stdout",
                    "was closed by its reader after \(max(0, next - 1)) results.")
                : UserError(.io, at: "stdout", "can't be written", error)
            self.failure = failure
            throw failure
        }
    }

    /// Calls `body`, a write, so that a closed pipe gives the error EPIPE and never the signal SIGPIPE: it is blocked
    /// for this thread, and consumed if the write has raised it.
    private static func withoutPipeSignal<Value>(
        _ body: @autoclosure () throws(SystemError) -> Value
    ) throws(SystemError) -> Value {
        var (pipe, before, pending) = (sigset_t(), sigset_t(), sigset_t())
        sigemptyset(&pipe)
        sigaddset(&pipe, SIGPIPE)
        sigpending(&pending)
        // A pending one is not ours to consume.
        let wasPending = sigismember(&pending, SIGPIPE) == 1
        pthread_sigmask(SIG_BLOCK, &pipe, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        do { return try body() } catch {
            sigpending(&pending)
            if error.code == EPIPE, !wasPending, sigismember(&pending, SIGPIPE) == 1 {
                var taken: Int32 = 0
                sigwait(&pipe, &taken)
            }
            throw error
        }
    }

    package func finish(count: Int) throws {
        if let failure { throw failure }
        precondition(count == next, "every position is done")
        encoder.end(&unwritten)
        try write()
    }

    package func suspend() throws {}
}
