import FoundationShim

/// Lines with the same settings that come one by one, each of a request that somebody waits for: a job's input and its
/// store in one. It ends as soon as nothing is left to do; the next such line begins another.
///
/// Lines are put in by one thread, read by the feeder's, and answered by the loop's.
package final class PipedLines: ResultStore, Sendable {
    /// A request's line.
    package struct Line: Sendable {
        let request: Int
        /// Its place among the caller's lines, from 0.
        let index: Int
        let bytes: [UInt8]
        /// Its text is wanted as it comes.
        let streams: Bool
        /// Receives what becomes of it, on several threads.
        package let tell: @Sendable (Event) -> Void

        package init(
            request: Int, index: Int, bytes: [UInt8], streams: Bool,
            tell: @escaping @Sendable (Event) -> Void
        ) {
            (self.request, self.index, self.bytes, self.streams) = (request, index, bytes, streams)
            self.tell = tell
        }
    }

    /// Events of requests.
    package enum Event {
        /// More of a text, of one sample. A higher attempt begins anew: the text before was not what was asked for.
        case text(String, sample: Int, attempt: Int)
        /// Reasoning before the text of a sample, if it is kept apart and the text is streamed.
        case reasoning(String, sample: Int)
        /// A result as a native output has it, and how many are still to come.
        case result([UInt8], left: Int)
        /// All results of one of OpenAI's requests, in the order of their samples.
        case answers([GenerationResult], run: String)
        case failure(any Error)
        case stopped
        case cancelled
    }

    private final class OpenLine {
        let line: Line
        var left: Int
        /// Finished samples of one of OpenAI's requests, until all are there.
        var held: [(sample: Int, result: GenerationResult)] = []
        /// Samples of which the reasoning is told.
        var reasoning: Set<Int> = []
        var isDropped = false

        init(_ line: Line, results: Int) { (self.line, left) = (line, results) }
    }

    private struct OpenLines {
        var waiting: Deque<OpenLine> = []
        /// By their requests.
        var open: [Int: OpenLine] = [:]
        /// Results that are claimed and still to come, by their places in the run.
        var places: [Int: OpenLine] = [:]
        /// The places of those that are not wanted any more.
        var dropped: Set<Int> = []
        /// The line that was read last, of which results are claimed.
        var current: OpenLine?
        var isClosed = false

        /// - Returns: nil if the result isn't wanted.
        mutating func close(_ position: Int) -> OpenLine? {
            let one = places.removeValue(forKey: position)
            return dropped.remove(position) == nil ? one : nil
        }

        /// The number may be another request's by now.
        mutating func end(_ one: OpenLine) {
            if open[one.line.request] === one { open[one.line.request] = nil }
        }
    }

    package let job: JobSettings
    /// Of the run's fingerprint, which results name.
    package let digest: String
    private let isByLine: Bool
    private let state = Condition(OpenLines())

    /// - Parameter digest: of the run's fingerprint, which results name.
    package init(_ job: JobSettings, digest: String) {
        self.job = job
        isByLine = job.outputFormat.isByLine
        self.digest = digest
    }

    /// - Returns: false if all before was done, and the run that reads these lines is at its end.
    package func put(_ line: Line) -> Bool {
        let results = job.sampleCount
        return state.change { state in
            guard !state.isClosed else { return false }
            let one = OpenLine(line, results: results)
            state.open[line.request] = one
            state.waiting.append(one)
            return true
        }
    }

    /// - Returns: false if there is no such request.
    package func cancel(_ request: Int) -> Bool {
        state.change { state in
            guard let one = state.open.removeValue(forKey: request) else { return false }
            if let place = state.waiting.firstIndex(where: { $0 === one }) {
                state.waiting.remove(at: place)
            } else {
                one.isDropped = true
                state.dropped.formUnion(state.places.filter { $0.value === one }.keys)
            }
            one.line.tell(.cancelled)
            return true
        }
    }

    package func holds(_ request: Int) -> Bool { state.withLock { $0.open[request] != nil } }

    package var hasEnded: Bool { state.withLock { $0.isClosed } }

    // MARK: The feeder's

    /// Waits for a line.
    /// - Returns: nil once all are done.
    fileprivate func next() -> Line? {
        state.wait { state -> Line?? in
            // Dropped ones are left to the loop, too.
            if state.waiting.isEmpty, state.open.isEmpty, state.places.isEmpty { state.isClosed = true }
            if state.isClosed {
                state.current = nil
                return .some(nil)
            }
            guard let one = state.waiting.popFirst() else { return nil }
            state.current = one
            return one.line
        }
    }

    package func claim(_ key: ResultKey, position: Int) -> StoredState {
        state.withLock { state in
            state.places[position] = state.current
            if state.current?.isDropped == true { state.dropped.insert(position) }
        }
        return .new
    }

    // MARK: The loop's

    package func append(_ result: GenerationResult, key: ResultKey, position: Int) {
        state.change { state in
            guard let one = state.close(position) else { return }
            guard !isByLine else { return hold(result, key.sample, of: one, &state) }
            one.left -= 1
            if one.left == 0 { state.end(one) }
            var encoder = ResultFormat.jsonl.makeEncoder(samples: job.sampleCount)
            var bytes: [UInt8] = []
            let record = ResultRecord(key: key, repetition: 0, run: digest, result: result)
            encoder.append(record, to: &bytes)
            bytes.removeLast()
            one.line.tell(.result(bytes, left: one.left))
        }
    }

    /// The request names its results, and each result its request.
    private func hold(_ result: GenerationResult, _ sample: Int, of one: OpenLine, _ state: inout OpenLines) {
        one.held.append((sample, result))
        guard one.held.count >= OpenAIRequest(of: result).choices ?? job.sampleCount else { return }
        state.end(one)
        one.line.tell(.answers(one.held.sorted { $0.sample < $1.sample }.map(\.result), run: digest))
    }

    /// - Parameters:
    ///   - isCertain: no other attempt may take its place. What is not can't be unsaid to OpenAI's clients.
    ///   - reasoning: nil where none is kept apart.
    func received(_ text: String, of label: RequestLabel, isCertain: Bool, after reasoning: () -> String?) {
        state.withLock { state in
            guard let one = state.places[label.position], one.line.streams, !one.isDropped,
                isCertain || !isByLine
            else { return }
            if isByLine, one.reasoning.insert(label.sample).inserted, let reasoning = reasoning() {
                one.line.tell(.reasoning(reasoning, sample: label.sample))
            }
            one.line.tell(.text(text, sample: label.sample, attempt: label.attempt))
        }
    }

    /// Whether some requests are not to be answered any more.
    var drops: Bool { state.withLock { !$0.dropped.isEmpty } }

    func drops(_ label: RequestLabel) -> Bool { state.withLock { $0.dropped.contains(label.position) } }

    /// A request that was cancelled is gone. Of several of one result only the first counts.
    func gone(_ label: RequestLabel) { state.change { _ = $0.close(label.position) } }

    /// No more comes of what is left.
    /// - Parameter error: nil if the run was asked to stop.
    package func end(_ error: (any Error)?) {
        state.change { state in
            state.isClosed = true
            for (_, one) in state.open.sorted(by: { $0.key < $1.key }) {
                one.line.tell(error.map { .failure($0) } ?? .stopped)
            }
            state.open = [:]
            state.waiting = []
        }
    }

    package func finish(count: Int) {}
    package func suspend() {}
}

extension InputReader {
    /// Reads lines that come one by one.
    init(_ lines: PipedLines) {
        self.init("request") {
            lines.next().map {
                InputRecord($0.bytes, number: $0.index + 1) { bytes throws(LineError) in
                    lines.job.inputFormat.content(of: try PromptRecord.parseObject(bytes))
                }
            }
        }
    }
}
