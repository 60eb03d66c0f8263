import Essentials
import JSON
import OperatingSystem

/// Lines with the same settings that come one by one, each of a request that somebody waits for: a job's input and its
/// store in one. It ends as soon as nothing is left to do; the next such line begins another.
///
/// Lines are put in by one thread, read by the feeder's, and answered by the loop's.
package final class PipedLines: ResultStore, @unchecked Sendable {
    /// A request's line.
    package struct Line {
        package var request: Int
        /// Its place among the caller's lines, from 0.
        var index: Int
        var bytes: [UInt8]
        /// Its text is wanted as it comes.
        var streams: Bool
    }

    /// What becomes of requests.
    package enum Event {
        /// More of a text, of one sample. A higher attempt begins anew: the text before was not what was asked for.
        case text(String, sample: Int, attempt: Int)
        /// A result as a native output has it, and how many are still to come.
        case result([UInt8], left: Int)
        case failure(any Error)
        case stopped
        case cancelled
    }

    private final class Open {
        let line: Line
        var left: Int
        var isDropped = false

        init(_ line: Line, results: Int) { (self.line, left) = (line, results) }
    }

    let job: JobSettings
    private let run: ResultRun
    private let tell: (Int, Event) -> Void
    private let condition = Condition()
    // All below is guarded by `condition`.
    private var waiting: Queue<Open> = []
    /// By their requests.
    private var open: [Int: Open] = [:]
    /// Results to come, by their places in the run.
    private var places: [Int: Open] = [:]
    /// The line that was read last, of which results are claimed.
    private var current: Open?
    private var isClosed = false
    private var dropped = 0

    /// - Parameters:
    ///   - digest: of the run's fingerprint, which results name.
    ///   - tell: called on several threads, with the number of a request.
    package init(_ job: JobSettings, digest: String, tell: @escaping (Int, Event) -> Void) {
        self.job = job
        self.tell = tell
        run = job.resultRun(digest: digest)
    }

    /// - Returns: false if all before was done, and the run that reads these lines is at its end.
    package func put(_ line: Line) -> Bool {
        condition.withLock {
            guard !isClosed else { return false }
            let one = Open(line, results: job.sampleCount)
            open[line.request] = one
            waiting.append(one)
            condition.broadcast()
            return true
        }
    }

    /// - Returns: false if there is no such request.
    package func cancel(_ request: Int) -> Bool {
        condition.withLock {
            guard let one = open.removeValue(forKey: request) else { return false }
            if let place = waiting.firstIndex(where: { $0 === one }) {
                waiting.remove(at: place)
            } else {
                one.isDropped = true
                dropped += 1
            }
            tell(request, .cancelled)
            condition.broadcast()
            return true
        }
    }

    package func holds(_ request: Int) -> Bool { condition.withLock { open[request] != nil } }

    package var hasEnded: Bool { condition.withLock { isClosed } }

    // MARK: The feeder's

    /// Waits for a line.
    /// - Returns: nil once all are done.
    fileprivate func next() -> Line? {
        condition.lock()
        defer { condition.unlock() }
        while waiting.isEmpty, !isClosed {
            // Dropped ones are left to the loop, too.
            if open.isEmpty, places.isEmpty {
                isClosed = true
                return nil
            }
            condition.wait()
        }
        guard !isClosed, let one = waiting.popFirst() else { return nil }
        current = one
        return one.line
    }

    package func claim(_ key: WorkKey, position: Int) -> StoredState {
        condition.withLock { places[position] = current }
        return .new
    }

    // MARK: The loop's

    package func append(_ result: GenerationResult, key: WorkKey, position: Int) {
        condition.withLock {
            guard let one = close(position), !one.isDropped else { return }
            var encoder = NativeResults().makeEncoder(for: run)
            var bytes: [UInt8] = []
            encoder.append(result, at: ResultPlace(key: key, index: one.line.index), to: &bytes)
            bytes.removeLast()
            tell(one.line.request, .result(bytes, left: one.left))
        }
    }

    func received(_ text: String, of label: WorkLabel) {
        condition.withLock {
            guard let one = places[label.position], one.line.streams, !one.isDropped else { return }
            tell(one.line.request, .text(text, sample: label.sample, attempt: label.attempt))
        }
    }

    /// Whether some requests are not to be answered any more.
    var drops: Bool { condition.withLock { dropped > 0 } }

    func drops(_ label: WorkLabel) -> Bool {
        condition.withLock { places[label.position].map(\.isDropped) ?? false }
    }

    /// A request that was cancelled is gone. Of several of one result only the first counts.
    func gone(_ label: WorkLabel) { condition.withLock { _ = close(label.position) } }

    /// No more comes of what is left.
    /// - Parameter error: nil if the run was asked to stop.
    package func end(_ error: (any Error)?) {
        condition.withLock {
            isClosed = true
            for request in open.keys.sorted() { tell(request, error.map { .failure($0) } ?? .stopped) }
            open = [:]
            waiting = []
            condition.broadcast()
        }
    }

    private func close(_ position: Int) -> Open? {
        guard let one = places.removeValue(forKey: position) else { return nil }
        one.left -= 1
        if one.left == 0 {
            if one.isDropped { dropped -= 1 }
            // The number may be another request's by now.
            if open[one.line.request] === one { open[one.line.request] = nil }
        }
        condition.broadcast()
        return one
    }

    package func saveInFlight(_ records: [InFlightRecord]) {}
    package func sync() {}
    package func finish(count: Int) {}
    package func suspend() {}
}

extension InputReader {
    /// Reads lines that come one by one.
    init(_ lines: PipedLines) { self.init(cursor: Cursor(lines: lines), name: "request") }

    private struct Cursor: InputCursor {
        let lines: PipedLines

        mutating func next() -> InputRecord? {
            lines.next().map { InputRecord(bytes: $0.bytes, number: $0.index + 1) }
        }

        func fields(of record: InputRecord) throws(LineError) -> JSONValue {
            try PromptRecord.parseObject(record.bytes)
        }
    }
}
