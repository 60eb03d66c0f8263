import BatchEngine

/// Outcomes of requests, and decisions on rows in the input's order.
extension JobRun {
    package func finished(_ sequence: TokenSequence, provenance: [String: String]) throws {
        let owner = closed(sequence.request)
        let ended = EndedRequest(
            request: sequence.request, decoding: sequence.decoding, clock: sequence.stoppedClock,
            provenance: provenance)
        expected.note(ended)
        try take(ended, as: owner)
        try share(ended)
    }

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
        for owner in [closed(request)] + gaveUp(request) {
            try settle(owner.failed(error, nil), of: owner.label)
        }
    }

    package func failed(_ sequence: TokenSequence, _ fault: ChoiceFault) throws {
        let error = LineError(fault, after: sequence.decoding.progress)
        for owner in [closed(sequence.request)] + gaveUp(sequence.request) {
            try settle(owner.failed(error, sequence), of: owner.label)
        }
    }

    /// - Parameter owner: the work that it is the outcome of; it may have been computed for an equal request.
    func take(_ ended: EndedRequest, as owner: OwnedRequest) throws {
        try settle(owner.outcome(ended), of: owner.label)
    }

    func settle(_ outcome: RequestOutcome, of label: RequestLabel) throws {
        try take(outcome, of: label)
        try decide()
    }

    /// Acts on what was decided. That may decide more.
    func decide() throws {
        guard !isDeciding else { return }
        isDeciding = true
        defer { isDeciding = false }
        while let decision = gates?.nextDecision() {
            try settle(decision.row.compared(with: decision.original), of: decision.row.label)
        }
    }

    private func take(_ outcome: RequestOutcome, of label: RequestLabel) throws {
        switch outcome {
        case .made(var result, let isOwn):
            statistics.done += 1
            if !isOwn { statistics.copied += 1 }
            note(result, isOwn: isOwn)
            result.kept = label.kept
            try put(result, label)
        case .held(let row):
            // A verified row stands beside other rows than it did, so it is decided as it was.
            if let known = try store.use({ try $0.log?.verified(row.label.key) }) {
                return try settle(row.decided(as: known), of: row.label)
            }
            gates?.hold(row)
        case .failed(let error, let text): try fail(label, error, text: text)
        case .more(let works, let isAgain):
            if isAgain { statistics.turnedDown += 1 }
            works.forEach(queue.putBack)
        }
    }

    private func note(_ result: GenerationResult, isOwn: Bool) {
        if let tally = result.outcome { statistics.tally[tally, default: 0] += 1 }
        guard result.text != nil else { return }
        statistics.finishReasons[result.finishReason?.rawValue ?? "", default: 0] += 1
        guard isOwn, let timing = result.timing else { return }
        statistics.firstTokenTimes.add(timing["prefill"]?.number ?? 0)
        statistics.requestTimes.add(ResultTime.running(timing))
    }

    private func put(_ result: GenerationResult, _ label: RequestLabel) throws {
        gates?.ended(label.position, isAccepted: result.isAccepted, tally: result.outcome)
        try tellEnd()
        if label.isDone { return }
        if let end = gates?.end, label.position >= end { return }
        let (key, position) = (label.key, label.position)
        try store.handOver { try $0.append(result, key: key, position: position) }
    }

    func tellEnd() throws {
        guard let end = gates?.end else { return }
        try store.handOver { $0.endsEarly(at: end) }
    }

    // MARK: Failures

    /// Puts out an error of a line. The line counts as failed once, whichever of its samples fail.
    /// - Parameter text: the answer that is at fault.
    private func fail(_ label: RequestLabel, _ error: LineError, text: String? = nil) throws {
        // The step that failed with it has counted it.
        if error.code != .earlierError, faulty.insert(label.index).inserted {
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
        let failure = GenerationResult.failure(
            error, file: job.input.count > 1 ? label.file : nil, line: label.lineNumber, text: text,
            kept: label.kept)
        try put(failure, label)
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
            guard let lines = count.isWhole ? count.read.count : total.withLock(\.self) else { return false }
            return statistics.failed > limit.allowed(of: lines)
        }
    }
}

// MARK: The end

extension JobRun {
    /// The status, and the number of positions of an output that is to be put in place; nil leaves all resumable.
    private typealias Ending = (status: RunOutcome.Status, endedEarly: Bool, positions: Int?)

    package func completed() {
        // Asked to stop at the last moment: then the next run puts the results in place.
        guard stopFlag.beginEnd() else { return abandoned([], error: nil) }
        end([]) {
            var count = feeder.count
            if let end = gates?.end {
                (count.positions, count.read.count) = (end, end / job.sampleCount)
                // Lines that failed beyond those that are needed are none of the job's.
                statistics.failed -= failedPositions.count { $0 >= end }
            }
            let allowed = (job.maxFailures ?? .count(0)).allowed(of: count.read.count)
            let hasFailed = statistics.failed > allowed
            if gates?.end == nil {
                if !follows, let half = count.read.unfinished.first {
                    guard hasFailed else { throw UserError(half) }
                    return (.tooManyFailures(allowed: allowed), true, nil)
                }
                if let wanted = gates?.wanted {
                    return (.tooFewAccepted(accepted: gates?.accepted ?? 0, wanted: wanted), false, nil)
                }
            }
            return (hasFailed ? .tooManyFailures(allowed: allowed) : .complete, false, count.positions)
        }
    }

    package func abandoned(_ live: [TokenSequence], error: (any Error)?) {
        end(live) {
            if let error { throw error }
            try save(live)
            guard endsEarly, !stopFlag.isSet, let limit = job.maxFailures else {
                return (.interrupted, false, nil)
            }
            let lines = total.withLock(\.self) ?? feeder.count.read.count
            return (.tooManyFailures(allowed: limit.allowed(of: lines)), true, nil)
        }
    }

    private func end(_ live: [TokenSequence], _ body: () throws -> Ending) {
        defer {
            queue.close()
            answers?.store.close()
            if let result { ended(result) }
        }
        do {
            let ending = try body()
            try store.close { store in
                guard let positions = ending.positions else { return try store.suspend() }
                store.log?.failures = AllowedFailures(
                    lines: statistics.failed, limit: job.maxFailures ?? .count(0))
                try store.finish(count: positions)
            }
            result = .success(
                RunOutcome(
                    status: ending.status, endedEarly: ending.endedEarly, statistics: currentStatistics,
                    failures: failures, input: feeder.count, inputs: followed?.paths ?? job.input))
        } catch {
            // The first error is the one to tell; saving may well fail for the same reason.
            try? store.settle()
            try? save(live)
            try? store.close { try $0.suspend() }
            result = .failure(error)
        }
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
