import FoundationShim
import OperatingSystem

/// Results that go to a stream (`output: -`) in input order, as soon as no earlier one is missing.
///
/// There is no file beside a stream, so there is no log and no resuming. Results that come early
/// are held in memory, as a log would have them; `positionLimit` keeps that bounded.
package final class StreamStore: ResultStore {
    private let descriptor: Int32
    private let system: FileSystem
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
        format: ResultFormat = ResultFormat.jsonl, heldLimit: Int = 64 << 20,
        system: FileSystem = FileSystem.real
    ) {
        precondition(samples > 0, "a line has at least one sample")
        self.descriptor = descriptor
        run = fingerprint.digest
        encoder = format.makeEncoder(samples: samples)
        self.heldLimit = heldLimit
        self.system = system
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
            while !unwritten.isEmpty {
                let count = try unwritten.withUnsafeBytes { bytes in
                    try system.retrying(try FileSystem.withoutPipeSignal(try system.write(descriptor, bytes)))
                }
                unwritten.removeFirst(count)
            }
        } catch let error as SystemError {
            let gone = error.code == EPIPE
            let failure =
                gone
                ? UserError(
                    .closedStream, at: "stdout",
                    "was closed by its reader after \(max(0, next - 1)) results.")
                : UserError(.io, at: "stdout", "cannot be written", error)
            self.failure = failure
            throw failure
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
