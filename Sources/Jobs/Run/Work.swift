import BatchEngine

/// One piece of work: one sample of one line. Names where it stands and what its result is filed under.
struct WorkLabel: Sendable {
    /// Where the result stands in the output.
    var position: Int
    /// The line's place among the input's lines that are not blank, from 0.
    var index: Int
    var sample: Int
    var key: WorkKey
    var file: String
    var lineNumber: Int
    /// Fields of the line that go into the result.
    var kept: [GenerationResult.KeptValue] = []
    var seed = 0
    var readyAt = ContinuousClock.now
    /// What the answer must be like; nil if it may be anything.
    var answer: AnswerRules?
    /// The digest of what `answer` is made of.
    var form: [UInt8]?
    /// How many answers were turned down before.
    var attempt = 0
    /// Nil for a completion that is generated.
    var scored: ScoredPart?
    /// What the answer is chosen from; nil if it is generated.
    var choosing: LinePreparer.Choosing?
}

/// Which of a line's completions is scored by a request.
struct ScoredPart: Sendable {
    var number: Int
    var count: Int
    var isList: Bool
    /// Tokens of the prompt by itself.
    var promptTokens: Int
}

/// What the feeder hands to the job.
enum Work: Sendable {
    /// Its label is a `WorkLabel`.
    case request(Request)
    case failure(WorkLabel, LineError)
    /// Waits until the form of its answer is compiled.
    case formed(FormedRequest)

    /// How many tokens it keeps in memory.
    var weight: Int {
        guard let request else { return 0 }
        let own = request.prompt.count + request.scored.count + (request.choices?.weight ?? 0)
        guard case .formed(let formed) = self else { return own }
        return own + formed.compilation.size / 4
    }

    /// Nil if nothing is asked of the model.
    var request: Request? {
        switch self {
        case .request(let request): request
        case .formed(let formed): formed.request
        case .failure: nil
        }
    }

    /// The line's place.
    var index: Int {
        switch self {
        case .failure(let label, _): label.index
        case .request(let request): request.work.index
        case .formed(let formed): formed.request.work.index
        }
    }

    /// - Parameter limit: positions from here on can't begin yet.
    func mayBegin(before limit: Int) -> Bool {
        if let request, request.work.position >= limit { return false }
        if case .formed(let formed) = self { return formed.compilation.isReady }
        return true
    }
}

extension Request {
    var work: WorkLabel {
        guard let label = label as? WorkLabel else { preconditionFailure("a request of another source") }
        return label
    }
}
