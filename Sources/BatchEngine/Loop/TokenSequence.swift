import Faults

/// A request in a loop and what has come of it: the one record there is of it. An engine knows its KV cache by
/// the same id.
package struct TokenSequence {
    package let id: RequestID
    package let request: Request
    package private(set) var course: any Course { didSet { noteCourse() } }
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
    private(set) var open = Scheduler.Open(rows: 0, isCompletion: false)
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
        course = request.goal.course(after: request.prompt, vocabularySize: vocabularySize)
        noteCourse()
    }

    /// Keeps what the loop asks of each sequence in each step, which would be copied to be asked.
    private mutating func noteCourse() {
        isDone = course.isDone
        count = request.prompt.count + course.following.count
    }

    /// Sequences that each go through a part of this one's course.
    /// - Parameter id: of the first; those after it are the others'.
    func parts(atMost most: Int, from id: Int) -> [TokenSequence] {
        course.parts(atMost: most).enumerated().map { place, course in
            TokenSequence(RequestID(id + place), self, course)
        }
    }

    private init(_ id: RequestID, _ whole: TokenSequence, _ course: any Course) {
        (self.id, self.course, part) = (id, course, whole.id)
        (request, slot, isTaken) = (whole.request, whole.slot, false)
        open.isPart = true
        noteCourse()
    }

    /// Takes what came of its parts, in whatever order they were done.
    mutating func join(_ parts: [TokenSequence]) {
        course.join(parts.sorted { $0.id < $1.id }.map(\.course))
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
    /// - Parameter course: has come to its end.
    package init(_ request: Request, taken course: any Course, by source: any RequestSource) {
        precondition(course.isDone)
        id = RequestID(-1)
        self.request = request
        self.course = course
        isTaken = true
        slot = SourceSlot(source)
        noteCourse()
    }

    /// What has come of a request whose goal is known.
    package func outcome<Kind: Course>(_ kind: Kind.Type) -> Kind {
        guard let course = course as? Kind else { preconditionFailure("the request has another goal") }
        return course
    }

    /// Prompt and what follows it, as far as that is known.
    var allTokens: [Int32] {
        let more = course.following
        return more.isEmpty ? request.prompt : request.prompt + more
    }
    /// What may be in the cache for as long as the sequence lasts.
    var lastingTokens: [Int32] { course.onlyGrows ? allTokens : request.prompt }
    /// How many of `allTokens` may be in the cache: about the rows of the others something is asked.
    var cacheable: Int { request.prompt.count + course.cacheable }
    /// Whether all of its prompt is in the cache.
    var hasPrompt: Bool { unsent.count <= course.following.count }

    /// Starts from the first token that isn't in the cache.
    mutating func begin(cached: Int, room: Int) {
        if admittedAt == nil { admittedAt = .now }
        course.begin()
        unsent = allTokens[cached...]
        isDecoding = false
        self.room = room
    }

    /// The next rows for the engine.
    /// - Parameter guess: tokens that may come after them. They go along as far as they are allowed, with the last row.
    mutating func send(_ count: Int, guess: Guess? = nil) -> StepInput {
        let rows = unsent.prefix(count)
        unsent.removeFirst(count)
        return course.input(
            id, rows, end: self.count - request.prompt.count - unsent.count, isLast: unsent.isEmpty,
            guess: guess.map { Array($0.tokens.prefix($0.tried)) } ?? [])
    }

    /// How many tokens may be guessed beside those that are certain.
    var guessLimit: Int { isDecoding ? course.guessLimit : 0 }

    /// Tokens that may come after those that are certain; nil if nothing suggests any.
    mutating func guess(limit: Int, least: Double) -> Guess? {
        if guesser == nil { guesser = TokenGuesser() }
        teach()
        return guesser?.guess(
            after: request.prompt, course.sampled, from: slot.guesses, limit: limit, least: least)
    }

    /// Lets others of its source guess from what it has sampled.
    mutating func teach() {
        slot.guesses.learn(course.sampled, after: request.prompt, from: taught)
        taught = course.sampled.count
    }

    /// Takes what a step says of the rows that were sent.
    mutating func take(_ answer: StepAnswer) -> CourseStep {
        if !answer.choices.isEmpty { isDecoding = true }
        if firstTokenAt == nil, isDecoding || !answer.logprobs.isEmpty { firstTokenAt = .now }
        let step = course.take(answer) { [slot] in slot.source.note(on: $0) }
        slot.report.count(step, right: answer.rightGuesses)
        goOn(step)
        return step
    }

    /// Takes the tokens that are certain before anything is computed.
    mutating func takeForced() -> CourseStep {
        let step = course.takeForced()
        goOn(step)
        return step
    }

    private mutating func goOn(_ step: CourseStep) {
        unsent = unsent.isEmpty ? step.rows : unsent + step.rows
        // Results may be kept for a while.
        if isDone { guesser = nil }
    }
}
