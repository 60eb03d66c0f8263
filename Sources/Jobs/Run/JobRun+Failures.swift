import BatchEngine

/// Requests and lines that come to nothing.
extension JobRun {
    package func refused(_ request: Request, _ refusal: UserError, room: Int?) throws {
        let most = job.maxTokens ?? RequestSettings.defaultMaxTokens
        if piped == nil, let room, min(most, request.ceiling - request.prompt.count) >= room {
            throw UserError(
                .badJob,
                "max_tokens: \(most) alone is more than the KV cache has room for: \(room) tokens. Raise kv_budget, or lower max_tokens."
            )
        }
        let code = refusal.kind == .resources ? LineError.Code.noRoom : .badPrompt
        let error = LineError(code, refusal.message)
        for owner in [request.owner] + gaveUp(request) {
            try settle(owner.outcome(of: error, nil), of: owner.label, isOfLine: true)
        }
    }

    package func failed(_ sequence: TokenSequence, _ fault: ChoiceFault) throws {
        let error = LineError(fault, after: sequence.decoding.progress)
        for owner in [sequence.request.owner] + gaveUp(sequence.request) {
            try settle(owner.outcome(of: error, sequence), of: owner.label)
        }
    }

    /// A completion has failed under way; those of the line's other samples need not.
    func fail(_ label: RequestLabel, _ error: LineError, text: String? = nil) throws {
        let isFirst = isFirstFault(of: label)
        close(label)
        try file(error, label, counts: isFirst, text: text)
    }

    /// Whether no other sample of the line has failed before; notes that this one has.
    func isFirstFault(of label: RequestLabel) -> Bool {
        faulty.insert(label, lowest: [open.keys.min(), queue.lowestIndex].compactMap { $0 }.min())
    }

    func close(_ label: RequestLabel) {
        let left = open[label.index, default: 1] - 1
        open[label.index] = left > 0 ? left : nil
        work.set(running: open.count)
    }

    /// Whether the job's own limit is passed, whatever the other lines come to. (A job that sets none is done to its
    /// end, so that all that is wrong shows at once.)
    private var failsForCertain: Bool {
        // Failed lines may be beyond what is needed.
        guard let limit = job.maxFailures, gates?.wanted == nil else { return false }
        switch limit {
        case .count(let count): return statistics.failed > count
        case .percent:
            let count = feeder.count
            guard let lines = count.isWhole ? count.lines : total.lines else { return false }
            return statistics.failed > limit.allowed(of: lines)
        }
    }

    /// - Parameters:
    ///   - counts: whether it is one more failed line; by default at a line's first sample, as what is wrong with a
    ///     line is so with all of them.
    ///   - text: the answer that is at fault.
    func file(_ error: LineError, _ label: RequestLabel, counts: Bool? = nil, text: String? = nil) throws {
        // The step that failed with it has counted it.
        if error.code != .earlierError, counts ?? (label.sample == 0) {
            statistics.failed += 1
            if gates?.wanted != nil { failedPositions.append(label.position) }
            statistics.errors[error.code, default: 0] += 1
            if failures.count < Self.failuresReported {
                failures.append(
                    FailedLine(id: label.key.id, file: label.file, line: label.lineNumber, error: error))
            }
        }
        statistics.failedResults += 1
        endsEarly = endsEarly || failsForCertain
        if error.code == .earlierError { statistics.passedOn += 1 }
        let result = GenerationResult(error, label, job: job, text: text)
        try put(result, label)
    }
}

/// Lines of which a completion failed under way: each sample may, or may not, and the line counts once.
struct FaultyLines {
    private var indexes: Set<Int> = []
    private static let pruneCount = 1024

    /// - Parameter lowest: the first line of which samples are under way, or wait; nil if there is none.
    /// - Returns: whether this line's first failure is this one.
    mutating func insert(_ label: RequestLabel, lowest: @autoclosure () -> Int?) -> Bool {
        if indexes.count >= Self.pruneCount {
            // A line's samples come one after the other: of those before, none is to come.
            let lowest = min(lowest() ?? label.index, label.index)
            indexes = indexes.filter { $0 >= lowest }
        }
        return indexes.insert(label.index).inserted
    }
}

extension LineError {
    /// - Parameter count: tokens of the completion before.
    init(_ fault: ChoiceFault, after count: Int) {
        switch fault {
        case .notFinite:
            self.init(
                .notFinite,
                "The model's logits are not finite after \(count) tokens of the completion: its weights are damaged, "
                    + "or drive this prompt out of range.")
        case .nothingAllowed:
            self.init(
                .nothingAllowed,
                "The constraint allows no token after \(count) tokens of the completion.")
        }
    }
}
