import Errors

/// A request in a loop and what has come of it: the one record there is of it. An engine knows its KV cache by
/// the same id.
package struct TokenSequence {
    package let id: RequestID
    package let request: Request
    package private(set) var decoding: any Decoding { didSet { noteDecoding() } }
    /// Whether nothing more comes of it.
    private(set) var isDone = false
    /// Tokens of prompt and what follows it, as far as that is known.
    private(set) var count = 0
    package private(set) var admittedAt: Moment?
    package private(set) var firstTokenAt: Moment?

    /// An equal request had its outcome, in another run: nothing is computed for it.
    package let isTaken: Bool

    let slot: SourceSlot
    /// The sequence that it goes through a part of; nil for none.
    private(set) var part: RequestID?
    /// Tokens not yet sent to the engine.
    private(set) var unsent: ArraySlice<Int32> = [] { didSet { open.rows = unsent.count } }
    /// Those are of the completion: the token sampled last, and what is certain after it.
    private var isDecoding = false { didSet { open.isCompletion = isDecoding } }
    /// What it has to send.
    private(set) var open = Scheduler.PendingRows(rows: 0, isCompletion: false)
    /// Tokens there is room for in the KV cache.
    var room = 0
    /// How many others have begun before it although they came later.
    var overtaken = 0
    /// Nil before the first guess.
    private var guesser: TokenGuesser?
    /// How many sampled tokens the source's guesses know.
    private var taught = 0

    init(_ id: RequestID, _ request: Request, slot: SourceSlot, vocabularySize: Int) {
        self.id = id
        self.request = request
        self.slot = slot
        isTaken = false
        decoding = request.kind.decoding(after: request.prompt, vocabularySize: vocabularySize)
        noteDecoding()
    }

    /// Keeps what the loop asks of each sequence in each step, which would be copied to be asked.
    private mutating func noteDecoding() {
        isDone = decoding.isDone
        count = request.prompt.count + decoding.following.count
    }

    /// Sequences that each go through a part of this one's decoding.
    /// - Parameter id: of the first; those after it are the others'.
    func parts(atMost most: Int, from id: Int) -> [TokenSequence] {
        decoding.parts(atMost: most).enumerated().map { place, decoding in
            TokenSequence(RequestID(id + place), self, decoding)
        }
    }

    private init(_ id: RequestID, _ whole: TokenSequence, _ decoding: any Decoding) {
        (self.id, self.decoding, part) = (id, decoding, whole.id)
        (request, slot, isTaken) = (whole.request, whole.slot, false)
        open.isPart = true
        noteDecoding()
    }

    /// Takes what came of its parts, in whatever order they were done.
    mutating func join(_ parts: [TokenSequence]) {
        decoding.join(parts.sorted { $0.id < $1.id }.map(\.decoding))
        firstTokenAt = parts.compactMap(\.firstTokenAt).min()
    }

    /// What a sequence takes of a worker that goes through no part of another one. Several parts share a worker: nobody
    /// waits for the next token of one, and the more rows a step has, the less each takes.
    static let wholeLoad = 4
    var load: Int { part == nil ? Self.wholeLoad : 1 }

    /// Its own, or that of the sequence that it goes through a part of.
    var wholeID: RequestID { part ?? id }

    /// Its first part begins.
    mutating func begin(with part: TokenSequence) { admittedAt = part.admittedAt }

    /// A request whose outcome is known, and that no loop needs to have.
    /// - Parameter decoding: has come to its end.
    package init(_ request: Request, taken decoding: any Decoding, by source: any RequestSource) {
        precondition(decoding.isDone)
        id = RequestID(-1)
        self.request = request
        self.decoding = decoding
        isTaken = true
        slot = SourceSlot(source)
        noteDecoding()
    }

    /// What has come of a request whose goal is known.
    package func outcome<Kind: Decoding>(_ kind: Kind.Type) -> Kind {
        guard let decoding = decoding as? Kind else { preconditionFailure("the request has another goal") }
        return decoding
    }

    /// Prompt and what follows it, as far as that is known.
    var allTokens: [Int32] {
        let more = decoding.following
        return more.isEmpty ? request.prompt : request.prompt + more
    }
    /// What may be in the cache for as long as the sequence lasts.
    var lastingTokens: [Int32] { decoding.onlyGrows ? allTokens : request.prompt }
    /// How many of `allTokens` may be in the cache: about the rows of the others something is asked.
    var cacheable: Int { request.prompt.count + decoding.cacheable }
    /// Whether all of its prompt is in the cache.
    var hasPrompt: Bool { unsent.count <= decoding.following.count }

    /// Starts from the first token that isn't in the cache.
    mutating func begin(cached: Int, room: Int) {
        if admittedAt == nil { admittedAt = .now }
        decoding.begin()
        unsent = allTokens[cached...]
        isDecoding = false
        self.room = room
    }

    /// The next rows for the engine.
    /// - Parameter guess: tokens that may come after them. They go along as far as they are allowed, with the last row.
    mutating func send(_ count: Int, guess: Guess? = nil) -> StepInput {
        let rows = unsent.prefix(count)
        unsent.removeFirst(count)
        return decoding.input(
            id, rows, end: self.count - request.prompt.count - unsent.count, isLast: unsent.isEmpty,
            guess: guess.map { Array($0.tokens.prefix($0.tried)) } ?? [])
    }

    /// How many tokens may be guessed beside those that are certain.
    var guessLimit: Int { isDecoding ? decoding.guessLimit : 0 }

    /// Tokens that may come after those that are certain; nil if nothing suggests any.
    mutating func guess(limit: Int, least: Double) -> Guess? {
        if guesser == nil { guesser = TokenGuesser() }
        teach()
        return guesser?.guess(
            after: request.prompt, decoding.sampled, from: slot.guesses, limit: limit, least: least)
    }

    /// Lets others of its source guess from what it has sampled.
    mutating func teach() {
        slot.guesses.learn(decoding.sampled, after: request.prompt, from: taught)
        taught = decoding.sampled.count
    }

    /// Takes what a step says of the rows that were sent.
    mutating func take(_ answer: StepAnswer) -> DecodingStep {
        if !answer.choices.isEmpty { isDecoding = true }
        if firstTokenAt == nil, isDecoding || !answer.logprobs.isEmpty { firstTokenAt = .now }
        let step = decoding.take(answer) { [slot] in slot.source.note(on: $0) }
        slot.report.count(step, right: answer.rightGuesses)
        goOn(step)
        return step
    }

    /// Takes the tokens that are certain before anything is computed.
    mutating func takeForced() -> DecodingStep {
        let step = decoding.takeForced()
        goOn(step)
        return step
    }

    private mutating func goOn(_ step: DecodingStep) {
        unsent = unsent.isEmpty ? step.rows : unsent + step.rows
        // Results may be kept for a while.
        if isDone { guesser = nil }
    }
}
