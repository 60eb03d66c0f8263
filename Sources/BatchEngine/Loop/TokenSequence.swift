/// A request in a loop and what has come of it: the one record there is of it. An engine knows its KV cache by
/// the same id.
package struct TokenSequence {
    package let id: RequestID
    package let request: Request
    /// The completion so far.
    package private(set) var tokens: [Int32] = []
    /// For each token what the source keeps beside it, if anything.
    package private(set) var notes: [String] = []
    package private(set) var text = ""
    /// Of the request's scored tokens, as far as they are computed.
    package private(set) var logprobs: [Float] = []
    /// Through the request's choices, if it has any.
    private var walk: ChoiceWalk?
    package private(set) var finishReason: FinishReason?
    /// Why it can't go on.
    package private(set) var fault: ChoiceFault?
    /// How many of `tokens` an earlier run has made.
    package private(set) var savedCount = 0
    package private(set) var admittedAt: ContinuousClock.Instant?
    package private(set) var firstTokenAt: ContinuousClock.Instant?

    let slot: SourceSlot
    /// Tokens not yet sent to the engine.
    private(set) var unsent: ArraySlice<Int32> = []
    /// Those are of the completion: the token chosen last, and what is certain after it.
    private var isDecoding = false
    /// Tokens there is room for in the KV cache.
    var room = 0
    /// How many others have begun before it although they came later.
    var overtaken = 0

    /// How the next token is chosen.
    private var sampling: SamplingRequest
    private var stream: any TextStream
    private var stops: StopMatcher
    /// Nil before the first guess.
    private var guesser: TokenGuesser?

    init(_ id: RequestID, _ request: Request, slot: SourceSlot) {
        self.id = id
        self.request = request
        self.slot = slot
        sampling = SamplingRequest(
            parameters: request.sampling, stream: request.stream, prompt: request.prompt,
            constraint: request.constraint)
        stream = request.text
        stops = StopMatcher(request.stops)
        walk = request.choices.map { ChoiceWalk($0, promptCount: request.prompt.count) }
    }

    /// To the questions of the request's choices, as far as they are computed.
    package var answers: [Float] { walk?.answers ?? [] }

    /// With the request's saved tokens, text and stop strings worked out anew. Nil if there are none, or none
    /// that can be ours: they come from a file.
    func resumed(vocabularySize: Int) -> TokenSequence? {
        let hasNotes = request.sampling.logprobs != nil
        guard let saved = request.saved, !saved.tokens.isEmpty,
            !hasNotes || saved.notes.count == saved.tokens.count,
            saved.tokens.allSatisfy({
                $0 >= 0 && Int($0) < vocabularySize && !request.endOfSequence.contains($0)
            })
        else { return nil }
        var sequence = self
        for (index, token) in saved.tokens.enumerated() {
            guard sequence.sampling.accept(token) else { return nil }
            _ = sequence.append(token, note: hasNotes ? saved.notes[index] : nil)
            if sequence.finishReason != nil { return nil }
        }
        sequence.savedCount = saved.tokens.count
        return sequence
    }

    /// Prompt and completion; of scored tokens without the last one, which nothing follows; of choices to the end of
    /// the branch under way.
    var allTokens: [Int32] {
        let more = walk?.path[...] ?? (isScored ? request.scored.dropLast() : tokens[...])
        return more.isEmpty ? request.prompt : request.prompt + more
    }
    var count: Int {
        request.prompt.count + (walk?.path.count ?? (isScored ? request.scored.count - 1 : tokens.count))
    }
    /// What may be in the cache for as long as the sequence lasts: a branch of choices makes room for the next.
    var lastingTokens: [Int32] { walk == nil ? allTokens : request.prompt }

    private var isScored: Bool { !request.scored.isEmpty }
    /// How many of `allTokens` may be in the cache: about the rows of the others something is asked.
    var cacheable: Int {
        walk?.cacheable ?? (isScored ? request.prompt.count + logprobs.count : count) - 1
    }

    /// Starts from the first token that isn't in the cache.
    mutating func begin(cached: Int, room: Int) {
        if admittedAt == nil { admittedAt = .now }
        walk?.begin()
        unsent = allTokens[cached...]
        isDecoding = false
        self.room = room
    }

    /// What it has to send.
    var open: Scheduler.Open { Scheduler.Open(rows: unsent.count, isCompletion: isDecoding) }

    /// The next rows for the engine.
    /// - Parameter guess: tokens that may come after them. They go along as far as they are allowed; of a request that
    ///   generates, with its last row.
    mutating func send(_ count: Int, samples: Bool, guess: [Int32] = []) -> StepInput {
        let rows = unsent.prefix(count)
        unsent.removeFirst(count)
        let (id, end) = (id, self.count - unsent.count)
        if let input = walk?.input(id, rows, end: end) { return input }
        guard isScored else {
            var input = StepInput(sequence: id, tokens: rows, sampling: samples ? sampling : nil)
            if samples { add(guess, to: &input) }
            return input
        }
        // The row after which the next target comes is the last that may be cached.
        let targets = max(0, end - cacheable)
        return StepInput(
            sequence: id, tokens: rows, targets: request.scored[logprobs.count...].prefix(targets))
    }

    /// Adds guessed tokens, up to the first one that can't come or that nothing would follow.
    private func add(_ guess: [Int32], to input: inout StepInput) {
        var state = sampling
        for token in guess {
            // Where the constraint leaves one token, it is the better guess.
            let certain = request.sampling.logprobs == nil ? state.forced.first : nil
            guard !request.endOfSequence.contains(certain ?? token), state.accept(certain ?? token),
                !state.isComplete
            else { return }
            input.tokens.append(certain ?? token)
            input.samplings.append(state)
            if let certain, certain != token { return }
        }
    }

    /// How many tokens may be guessed beside those that are certain.
    var guessLimit: Int {
        guard isDecoding, walk == nil, !isScored else { return 0 }
        return max(0, min(request.maxTokens - tokens.count - 1, Speculation.limit))
    }

    /// Tokens that may come after those that are certain; nil if nothing suggests any.
    mutating func guess(limit: Int) -> Guess? {
        if guesser == nil { guesser = TokenGuesser() }
        return guesser?.guess(after: request.prompt, tokens, from: slot.guesses, limit: limit)
    }

    /// Sees what came of a guess.
    func learn(_ guess: Guess, _ input: StepInput, _ answer: StepAnswer) {
        guard input.guessed > 0, !answer.choices.isEmpty else { return }
        guesser?.learn(
            guess, count: input.guessed, held: answer.choices.count - 1, &slot.guesses)
    }

    /// Whether nothing more comes of it.
    var isDone: Bool {
        finishReason != nil || fault != nil || isScored && logprobs.count == request.scored.count
            || walk?.isDone == true
    }

    mutating func fail(_ fault: ChoiceFault) { self.fault = fault }

    /// Takes the token that the engine chose. Sets `finishReason` if it was the last one.
    /// - Returns: the text that has become certain.
    mutating func accept(_ token: Int32, note: String?) -> String {
        if firstTokenAt == nil { firstTokenAt = .now }
        unsent = []
        isDecoding = true
        return take(token, note: note)
    }

    /// Takes the tokens that are certain next: what the model would choose there makes no difference. But where
    /// log-probabilities are wanted it must be asked.
    /// - Returns: the text that has become certain.
    mutating func acceptForced() -> String {
        guard finishReason == nil else { return "" }
        if sampling.isComplete { return finish(ending) }
        guard request.sampling.logprobs == nil else { return "" }
        var piece = ""
        while finishReason == nil {
            let forced = sampling.forced
            if forced.isEmpty { break }
            for token in forced where finishReason == nil { piece += take(token, note: nil) }
        }
        return piece
    }

    private mutating func take(_ token: Int32, note: String?) -> String {
        if request.endOfSequence.contains(token) { return finish(ending) }
        let isAllowed = sampling.accept(token)
        precondition(isAllowed, "a token was chosen, or called certain, that the constraint forbids")
        unsent.append(token)
        return append(token, note: note)
    }

    /// Why a completion ends that needs nothing more.
    private var ending: FinishReason { sampling.isSteered ? .length : .stop }

    /// Takes the log-probabilities of the next scored tokens.
    mutating func accept(logprobs new: [Float]) {
        if firstTokenAt == nil { firstTokenAt = .now }
        if new.contains(where: \.isNaN) { fail(.notFinite) }
        guard walk == nil else {
            walk?.accept(new)
            if !isDone, unsent.isEmpty { unsent = walk?.nextBranch() ?? [] }
            return
        }
        logprobs += new.prefix { !$0.isNaN }
    }

    private mutating func append(_ token: Int32, note: String?) -> String {
        tokens.append(token)
        if let note { notes.append(note) }
        let piece = stops.append(stream.append(token))
        text += piece
        if stops.hasStopped {
            finishReason = .stopSequence
        } else if sampling.isComplete {
            return piece + finish(ending)
        } else if tokens.count >= request.maxTokens {
            return piece + finish(.length)
        }
        return piece
    }

    /// What was held back is text after all, unless half a character at the end completes a stop string.
    private mutating func finish(_ reason: FinishReason) -> String {
        var piece = stops.append(stream.finish())
        piece += stops.finish()
        text += piece
        // Results may be kept for a while.
        guesser = nil
        finishReason = stops.hasStopped ? .stopSequence : reason
        return piece
    }
}
