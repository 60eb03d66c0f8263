import Errors

/// A request in a loop, and all of its state: the engine's, and the progress of its decoding.
package struct TokenSequence {
    /// Its place among all of the loop: older ones have smaller numbers.
    package let id: Int
    package let request: Request
    package private(set) var decoding: any Decoding { didSet { noteDecoding() } }
    /// Whether it has ended.
    private(set) var isDone = false
    /// Number of known tokens, prompt included.
    private(set) var count = 0
    package private(set) var clock = RequestClock()
    /// Number of sampled tokens made by an earlier run.
    package private(set) var savedCount = 0

    let slot: SourceSlot
    package let cache: SequenceCache
    /// The sequence that it computes a part of; nil if it is whole.
    private(set) var whole: DividedSequence?
    /// Tokens not yet sent to the engine.
    private(set) var unsent: ArraySlice<Int32> = [] { didSet { open.rows = unsent.count } }
    /// Whether those are of the completion: the last sampled token and those forced after it.
    private var isDecoding = false { didSet { open.isCompletion = isDecoding } }
    private(set) var open = Scheduler.PendingRows(rows: 0, isCompletion: false)
    /// Number of younger sequences admitted before it.
    var overtaken = 0
    /// Prompt and completion, from the first draft on.
    private var index = DraftIndex()

    init(_ id: Int, _ request: Request, slot: SourceSlot, vocabularySize: Int) {
        (self.id, self.request, self.slot) = (id, request, slot)
        cache = SequenceCache(ceiling: request.ceiling, rope: request.rope)
        let saved = request.saved.flatMap {
            request.kind.decoding($0, after: request.prompt, vocabularySize: vocabularySize)
        }
        decoding = saved ?? request.kind.decoding(after: request.prompt)
        if saved?.isDone == false { savedCount = decoding.sampled.count }
        noteDecoding()
    }

    /// Caches what the loop reads of each sequence in each pass, as reading `decoding` copies it.
    private mutating func noteDecoding() {
        isDone = decoding.isDone
        count = request.prompt.count + decoding.following.count
    }

    /// Returns sequences that each compute a part of this one.
    /// - Parameter id: of the first; the others have the ids after it.
    func parts(atMost most: Int, from id: Int) -> [TokenSequence] {
        let parts = decoding.parts(atMost: most)
        let whole = DividedSequence(whole: self, partCount: parts.count)
        return parts.enumerated().map { place, decoding in
            TokenSequence(id + place, whole, decoding)
        }
    }

    private init(_ id: Int, _ divided: DividedSequence, _ decoding: any Decoding) {
        (self.id, self.decoding, whole) = (id, decoding, divided)
        (request, slot) = (divided.whole.request, divided.whole.slot)
        cache = SequenceCache(ceiling: request.ceiling, rope: request.rope)
        open.isPart = true
        noteDecoding()
    }

    /// Takes the results of its parts, in their order.
    mutating func join(_ parts: [any Decoding], firstToken: Moment?) {
        decoding.join(parts)
        clock.firstToken = firstToken
    }

    /// Load of a sequence that is no part of another. Parts share a worker: nobody waits for the next token of one, and
    /// each row costs less in a larger pass.
    static let wholeLoad = 4
    var load: Int { isPart ? 1 : Self.wholeLoad }

    var isPart: Bool { whole != nil }
    var wholeID: Int { whole?.whole.id ?? id }

    /// Records that its first part begins.
    mutating func begin(with part: TokenSequence) { clock.admitted = part.clock.admitted }

    /// Its clock, stopped now.
    package var stoppedClock: RequestClock {
        var clock = clock
        clock.ended = .now
        clock.tokens = decoding.sampled.count - savedCount
        return clock
    }

    /// All known tokens, prompt included.
    var allTokens: [Int32] {
        let more = decoding.following
        return more.isEmpty ? request.prompt : request.prompt + more
    }
    /// Number of `allTokens` that may come from the cache. The rows of the others are needed for their logits.
    var cacheable: Int { request.prompt.count + decoding.cacheable }
    /// Whether its prompt is in the cache.
    var hasPrompt: Bool { cache.length >= request.prompt.count }

    /// Starts with the first token that isn't in the cache.
    mutating func begin() {
        if clock.admitted == nil { clock.admitted = .now }
        unsent = allTokens[cache.length...]
        isDecoding = false
    }

    /// Returns the next rows for the engine.
    /// - Parameter draft: draft tokens that may follow the last row, as far as they are allowed.
    mutating func send(_ count: Int, draft: DraftTokens? = nil) -> PassInput {
        let rows = unsent.prefix(count)
        unsent.removeFirst(count)
        return decoding.input(
            cache, rows, end: self.count - request.prompt.count - unsent.count, isLast: unsent.isEmpty,
            draft: draft.map { Array($0.tokens.prefix($0.tried)) } ?? [])
    }

    /// Number of draft tokens that may follow the certain ones.
    var draftLimit: Int {
        isDecoding
            ? min(request.kind.sampledTokens - decoding.following.count - 1, Speculation.range.upperBound) : 0
    }

    /// Returns draft tokens to follow the certain ones; nil if nothing suggests any.
    mutating func draft(limit: Int, least: (_ rows: Int, _ tokens: Double) -> Double) -> DraftTokens? {
        index.draft(after: request.prompt, decoding.sampled, from: slot.drafts, limit: limit, least: least)
    }

    /// Takes the answer of a pass to the rows that were sent; an empty one before any.
    mutating func take(_ answer: PassAnswer) -> PassOutcome {
        if !answer.choices.isEmpty { isDecoding = true }
        if clock.firstToken == nil, isDecoding || !answer.logprobs.isEmpty { clock.firstToken = .now }
        let outcome = decoding.take(answer) { [slot] in slot.source.note(on: $0) }
        slot.report.count(outcome, right: answer.acceptedDrafts)
        unsent = unsent.isEmpty ? outcome.rows : unsent + outcome.rows
        cache.length = count - unsent.count
        // Results may be kept for a while.
        if isDone { index = DraftIndex() }
        return outcome
    }
}
