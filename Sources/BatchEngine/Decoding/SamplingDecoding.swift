/// Decoding state of a completion.
package struct SamplingDecoding: Decoding {
    private let kind: Sampling
    /// The completion so far.
    package private(set) var sampled: [Int32] = []
    package private(set) var notes: [String] = []
    /// Notes on the prompt's tokens after the first, if they are scored, and on the token that ended the completion.
    package private(set) var promptNotes: [String] = []
    package private(set) var endNote: String?
    private let prompt: [Int32]
    /// The answer so far.
    package private(set) var text = ""
    /// Reasoning as generated, with its tags and the white space around it.
    package private(set) var reasoning = ""
    package private(set) var finishReason: FinishReason?
    package private(set) var fault: ChoiceFault?

    /// State for choosing the next token.
    private var sampling: SamplingRequest
    private var stream: any TextStream
    private var stops: StopMatcher
    private var reader: ReasoningReader?

    init(_ kind: Sampling, after prompt: [Int32]) {
        self.kind = kind
        self.prompt = prompt
        sampling = SamplingRequest(
            parameters: kind.sampling, stream: kind.stream, prompt: prompt, ends: kind.endOfSequence,
            constraint: kind.firstConstraint)
        stream = kind.text
        stops = StopMatcher(kind.stops, until: kind.stopsUntil)
        reader = kind.reasoning.map { ReasoningReader($0) }
    }

    /// Reasoning without its tags; nil if none is separated.
    package var reasoningContent: String? {
        kind.reasoning.map { $0.tags.content(of: reasoning, isOpen: $0.isOpen) }
    }
    /// Number of tokens before the answer.
    package var reasoningTokens: Int { reader?.tokens ?? 0 }
    /// Number of tokens before the first that has text of the answer.
    package var tokensBeforeAnswer: Int { reader?.skipped ?? 0 }
    /// Whether the limit ended the reasoning.
    package var reasoningIsCut: Bool { (sampling.constraint as? ReasoningConstraint)?.isCut ?? false }

    /// Returns the state after what was saved, recomputed; nil if that can't be this request's or would not end so.
    func after(_ saved: SavedDecoding, vocabularySize: Int) -> SamplingDecoding? {
        guard saved.logprobs.isEmpty, hasNotes || saved.notes.isEmpty,
            !hasNotes || saved.notes.count == saved.tokens.count,
            saved.tokens.allSatisfy({
                $0 >= 0 && Int($0) < vocabularySize && !kind.endOfSequence.contains($0)
            })
        else { return nil }
        var decoding = self
        var outcome = PassOutcome()
        for (index, token) in saved.tokens.enumerated() {
            guard decoding.finishReason == nil, decoding.sampling.accept(token) else { return nil }
            decoding.append(token, note: hasNotes ? saved.notes[index] : nil, &outcome)
        }
        // The last token ends it, or nothing can follow.
        if saved.finishReason != nil, decoding.finishReason == nil {
            decoding.finish(decoding.ending, &outcome)
        }
        return decoding.finishReason == saved.finishReason ? decoding : nil
    }

    package var saved: SavedDecoding {
        SavedDecoding(tokens: sampled, notes: notes, finishReason: finishReason)
    }

    /// Whether log-probabilities are wanted, so that the model must compute each token.
    package var hasNotes: Bool { kind.sampling.logprobs != nil }

    package var following: ArraySlice<Int32> { sampled[...] }
    package var cacheable: Int { scores ? promptNotes.count - prompt.count : sampled.count - 1 }
    private var scores: Bool { kind.scoresPrompt && promptNotes.count < prompt.count - 1 }
    package var isDone: Bool { finishReason != nil || fault != nil }

    package func input(
        _ cache: SequenceCache, _ rows: ArraySlice<Int32>, end: Int, isLast: Bool, draft: [Int32]
    ) -> PassInput {
        var input = PassInput(cache, rows, sampling: isLast ? sampling : nil)
        if scores {
            // Targets belong to the last rows; after the prompt's last token any value will do.
            let next = promptNotes.count + 1
            input.targets = (prompt + [0])[next...].prefix(max(0, prompt.count + end + 1 - next))
            input.alternatives = kind.sampling.logprobs ?? 0
        }
        if isLast, !draft.isEmpty { add(draft, to: &input) }
        return input
    }

    /// Adds draft tokens, up to the first that is not allowed or ends the completion.
    private func add(_ draft: [Int32], to input: inout PassInput) {
        var state = sampling
        for token in draft {
            // If the constraint forces a token, that is the better draft.
            let certain = hasNotes ? nil : state.forced.first
            guard !kind.endOfSequence.contains(certain ?? token), state.accept(certain ?? token),
                !state.isComplete
            else { return }
            input.tokens.append(certain ?? token)
            input.samplings.append(state)
            if let certain, certain != token { return }
        }
    }

    package mutating func take(_ answer: PassAnswer, note: (SampledToken) -> String?) -> PassOutcome {
        var outcome = PassOutcome()
        for (number, logprob) in answer.logprobs.enumerated() where scores && !isDone {
            if logprob.isNaN { fault = .notFinite }
            let top = answer.alternatives.isEmpty ? [] : answer.alternatives[number]
            promptNotes.append(
                note(SampledToken(token: prompt[promptNotes.count + 1], logprob: logprob, top: top)) ?? "")
        }
        for number in answer.choices.indices where !isDone {
            let choice = answer.choices[number]
            outcome.tokens += 1
            if let fault = choice.fault {
                self.fault = fault
                break
            }
            // The tokens before were drafts and are in the cache.
            outcome.rows = []
            take(choice.token, note: hasNotes ? note(choice) : nil, &outcome)
        }
        // Forced tokens after the last choice need no row of their own.
        let before = sampled.count
        takeForced(&outcome)
        outcome.tokens += sampled.count - before
        return outcome
    }

    /// Takes tokens that the constraint forces, unless their log-probabilities are wanted.
    private mutating func takeForced(_ outcome: inout PassOutcome) {
        guard !isDone, sampling.isConstrained else { return }
        if sampling.isComplete {
            finish(ending, &outcome)
            return
        }
        guard !hasNotes else { return }
        while finishReason == nil {
            let forced = sampling.forced
            if forced.isEmpty { break }
            for token in forced where finishReason == nil { take(token, note: nil, &outcome) }
        }
    }

    private mutating func take(_ token: Int32, note: String?, _ outcome: inout PassOutcome) {
        if kind.endOfSequence.contains(token) {
            endNote = note
            finish(ending, &outcome)
            return
        }
        let isAllowed = sampling.accept(token)
        precondition(isAllowed, "a token was chosen, or called certain, that the constraint forbids")
        // Mostly there are no others.
        outcome.rows = outcome.rows.isEmpty ? [token] : outcome.rows + [token]
        append(token, note: note, &outcome)
    }

    /// Finish reason of a completion to which nothing can be added.
    private var ending: FinishReason { sampling.isSteered ? .length : .stop }

    private mutating func append(_ token: Int32, note: String?, _ outcome: inout PassOutcome) {
        sampled.append(token)
        if let note { notes.append(note) }
        let text = stream.append(token)
        let mayStop = sampled.count > kind.sampling.rules.minTokens
        take(reader?.append(text, of: token) ?? .init(answer: text), mayStop: mayStop, &outcome)
        if stops.hasStopped {
            finishReason = .stopSequence
        } else if sampling.isComplete {
            finish(ending, &outcome)
        } else if sampled.count >= kind.maxTokens {
            finish(reader?.isInside == true ? .reasoningLength : .length, &outcome)
        }
    }

    /// Held-back text is text after all, unless a stop string ends in its last incomplete character.
    private mutating func finish(_ reason: FinishReason, _ outcome: inout PassOutcome) {
        if reason == .length || reason == .reasoningLength { stream.dropHalfCharacter() }
        let rest = stream.finish()
        take(reader?.finish(rest) ?? .init(answer: rest), mayStop: true, &outcome)
        let last = stops.finish()
        text += last
        outcome.text.answer += last
        finishReason = stops.hasStopped ? .stopSequence : reason
    }

    /// Stop strings apply to the answer only.
    private mutating func take(
        _ piece: ReasoningReader.Piece, mayStop: Bool, _ outcome: inout PassOutcome
    ) {
        if piece.answer.isEmpty, piece.reasoning.isEmpty { return }
        let answer = stops.append(piece.answer, mayStop: mayStop)
        text += answer
        reasoning += piece.reasoning
        outcome.text.answer += answer
        outcome.text.reasoning += piece.reasoning
    }
}
