import FoundationShim

/// Lines with the same settings that come one by one, each of a request that somebody waits for: a job's input and its
/// store in one. It ends as soon as nothing is left to do; the next such line begins another.
///
/// Lines are put in by one thread, read by the feeder's, and answered by the loop's.
package final class PipedLines: ResultStore, Sendable {
    /// A request's line, whose results are told as they come.
    package final class Line: @unchecked Sendable {
        let request: Int
        /// Its place among the caller's lines, from 0.
        let index: Int
        let bytes: [UInt8]
        /// Its text is wanted as it comes.
        let streams: Bool
        /// Receives what becomes of it, on several threads.
        package let tell: @Sendable (Event) -> Void
        // Guarded by the state of the lines that it is put into.
        /// Results that have not been told: all of one of OpenAI's requests are told together.
        fileprivate var held: [ResultRecord] = []
        /// Number of the results that are made.
        fileprivate var made = 0
        /// Samples of which the reasoning is told.
        fileprivate var reasoning: Set<Int> = []

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
        /// A result, and how many of the line's are still to come; of one of OpenAI's requests all, in the order of their
        /// samples.
        case results([ResultRecord], left: Int, of: Int)
        case failure(any Error)
        case stopped
        case cancelled
    }

    private struct State {
        var waiting: Deque<Line> = []
        /// By their requests.
        var open: [Int: Line] = [:]
        /// Results that are claimed and still to come, by their places in the run.
        var places: [Int: Line] = [:]
        /// The places of those that are not wanted any more.
        var dropped: Set<Int> = []
        /// The line that was read last, of which results are claimed.
        var current: Line?
        var isClosed = false

        /// Whether it is waited for. Its number may be another request's by now.
        func isOpen(_ line: Line) -> Bool { open[line.request] === line }

        /// - Returns: nil if the result isn't wanted.
        mutating func close(_ position: Int) -> Line? {
            let line = places.removeValue(forKey: position)
            return dropped.remove(position) == nil ? line : nil
        }
    }

    package let job: JobSettings
    /// Of the run's fingerprint, which results name.
    package let digest: String
    private let state = Condition(State())

    /// - Parameter digest: of the run's fingerprint, which results name.
    package init(_ job: JobSettings, digest: String) {
        (self.job, self.digest) = (job, digest)
    }

    /// - Returns: false if all before was done, and the run that reads these lines is at its end.
    package func put(_ line: Line) -> Bool {
        state.change { state in
            guard !state.isClosed else { return false }
            state.open[line.request] = line
            state.waiting.append(line)
            return true
        }
    }

    /// - Returns: false if there is no such request.
    package func cancel(_ request: Int) -> Bool {
        state.change { state in
            guard let line = state.open.removeValue(forKey: request) else { return false }
            if let place = state.waiting.firstIndex(where: { $0 === line }) {
                state.waiting.remove(at: place)
            } else {
                state.dropped.formUnion(state.places.filter { $0.value === line }.keys)
            }
            line.tell(.cancelled)
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
            guard let line = state.waiting.popFirst() else { return nil }
            state.current = line
            return line
        }
    }

    package func claim(_ key: ResultKey, position: Int) -> StoredState {
        state.withLock { state in
            state.places[position] = state.current
            if let line = state.current, !state.isOpen(line) { state.dropped.insert(position) }
        }
        return .new
    }

    // MARK: The loop's

    package func append(_ result: GenerationResult, key: ResultKey, position: Int) {
        state.change { state in
            guard let line = state.close(position) else { return }
            line.made += 1
            line.held.append(ResultRecord(key: key, repetition: 0, run: digest, result: result))
            // A request names its results, and each result its request.
            let isByLine = job.outputFormat.isByLine
            let all = isByLine ? OpenAIRequest(of: result).choices ?? job.sampleCount : job.sampleCount
            if line.made >= all, state.isOpen(line) { state.open[line.request] = nil }
            if isByLine, line.made < all { return }
            let results = line.held.sorted { $0.key.sample < $1.key.sample }
            line.tell(.results(results, left: all - line.made, of: all))
            line.held = []
        }
    }

    /// - Parameters:
    ///   - isCertain: no other attempt may take its place. What is not can't be unsaid to OpenAI's clients.
    ///   - reasoning: nil where none is kept apart.
    func received(_ text: String, of label: RequestLabel, isCertain: Bool, after reasoning: () -> String?) {
        state.withLock { state in
            let isByLine = job.outputFormat.isByLine
            guard let line = state.places[label.position], line.streams,
                !state.dropped.contains(label.position), isCertain || !isByLine
            else { return }
            if isByLine, line.reasoning.insert(label.sample).inserted, let reasoning = reasoning() {
                line.tell(.reasoning(reasoning, sample: label.sample))
            }
            line.tell(.text(text, sample: label.sample, attempt: label.attempt))
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
            for (_, line) in state.open.sorted(by: { $0.key < $1.key }) {
                line.tell(error.map { .failure($0) } ?? .stopped)
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
