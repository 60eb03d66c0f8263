import Foundations

/// Results that go to a stream (`output: -`) in input order, as soon as no earlier one is missing.
///
/// There is no file beside a stream, so there is no journal and no resuming. Results that come early
/// are held in memory; `positionLimit` keeps that bounded.
package final class StreamStore: ResultStore {
    package let idScratch: Scratch
    private let descriptor: Int32
    private let system: any FileSystem
    private let fingerprint: RunFingerprint
    private let samples: Int
    private let heldLimit: Int
    private var held: [Int: [UInt8]] = [:]
    private var heldBytes = 0
    private var sums = OutputSums()
    private var next = 0
    private var claimed = 0
    private var failure: StoreError?

    /// Makes a closed stdout an error instead of a signal, for this whole process.
    ///
    /// - Parameters:
    ///   - descriptor: where to write; 1 is stdout. It is not closed.
    ///   - heldLimit: bytes of early results from which on no new positions should be started.
    ///   - idScratch: where the ids of very many lines may go: there is no folder beside a stream.
    package init(
        descriptor: Int32 = 1, fingerprint: RunFingerprint, samples: Int = 1, heldLimit: Int = 64 << 20,
        idScratch: Scratch = .folder(nil), system: any FileSystem = POSIXFileSystem()
    ) {
        precondition(samples > 0, "a line has at least one sample")
        Platform.ignoreBrokenPipes()
        self.descriptor = descriptor
        self.fingerprint = fingerprint
        self.samples = samples
        self.heldLimit = heldLimit
        self.idScratch = idScratch
        self.system = system
    }

    package var positionLimit: Int { heldBytes < heldLimit ? .max : next + 1 }

    package func claim(_ key: WorkKey, position: Int) throws -> StoredState {
        if let failure { throw failure }
        precondition(position == claimed, "positions are claimed in order")
        claimed += 1
        return .new
    }

    /// - Throws: `StoreError` of kind `closedStream` if the reader has gone, else `io`.
    package func append(_ result: String, key: WorkKey, position: Int, failed: Bool) throws {
        if let failure { throw failure }
        RecordLine.check(result, failed: failed)
        precondition(position >= next && position < claimed && held[position] == nil, "each position once")
        var line = Array("{\"id\":".utf8)
        JSONBytes.append(key.id, to: &line)
        RecordLine.appendPlace(index: position / samples, sample: samples > 1 ? key.sample : nil, to: &line)
        RecordLine.appendRest(result, contentHash: key.contentHash, run: fingerprint.digest, to: &line)
        heldBytes += line.count
        held[position] = line
        while var line = held.removeValue(forKey: next) {
            heldBytes -= line.count
            next += 1
            var ignored = 0
            guard let record = line.withUnsafeBytes({ RecordLine(output: $0, index: &ignored) }) else {
                preconditionFailure("a line of ours is one of an output's")
            }
            sums.seal(&line, from: 0, like: record)
            line.append(0x0a)
            try write(line)
        }
    }

    private func write(_ line: [UInt8]) throws {
        do {
            var done = 0
            while done < line.count {
                done += try line.withUnsafeBytes { bytes in
                    let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
                    return try system.retrying { () throws(SystemError) in try system.write(descriptor, rest)
                    }
                }
            }
        } catch let error as SystemError {
            let gone = error.code == ErrorCode.brokenPipe
            let failure =
                gone
                ? StoreError(
                    .closedStream, path: "stdout", "was closed by its reader after \(next - 1) results.")
                : StoreError(.io, path: "stdout", "cannot be written", error)
            self.failure = failure
            throw failure
        }
    }

    package func saveInFlight(_ records: [InFlightRecord]) throws {}

    package func sync() throws { if let failure { throw failure } }

    package func finish(count: Int) throws {
        if let failure { throw failure }
        precondition(count == next, "every position is done")
    }

    package func suspend() throws {}
}
