import BatchEngine
import FoundationShim
import OperatingSystem
import PhiText

/// One job in a loop: its lines become requests, and what comes of them goes to its store. Its own are input,
/// log, settings, statistics and failure limit.
///
/// A thread of its own reads ahead (`LineFeeder`). Between them lies a queue, so that parsing and tokenizing
/// don't hold up the engine, and no more lines are read than will soon be needed: enough to see the end coming, where
/// long ones go first.
package final class JobRun: RequestSource {
    static let failuresReported = 5

    package var workers: Int { job.engine.workerCount }
    package var prefillChunk: Int { job.engine.prefillChunk }
    package var speculation: Speculation { job.engine.speculation }
    /// End of the job; nil before.
    var result: Result<RunOutcome, any Error>?

    let job: JobSettings
    let models: ModelLoader
    let store: SharedStore
    /// Store of earlier answers, of this job or others; nil if the job asks for none.
    let answers: StoredAnswers?
    /// The model that equal requests have in common; nil if equal ones are of no interest.
    let sharedModel: [UInt8]?
    let stopFlag: StopFlag
    let progress: (RunStatistics) -> Void
    let ended: (Result<RunOutcome, any Error>) -> Void

    let queue: RequestQueue
    let feeder: InputProducer
    let total = InputTotal()
    let work: FollowedEnd
    let follows: Bool
    let followed: FollowedInput?
    let piped: PipedLines?
    private let readsAhead: Bool
    /// Somebody waits for each result, in order.
    private var flows: Bool { job.output == "-" }
    private var expected = ExpectedLength()
    private var hasStarted = false
    /// More lines have failed than may.
    var endsEarly = false
    /// To be generated anew, as what came was not what was asked for.
    var again: Deque<Request> = []
    /// Next steps that wait for the form of their answer.
    var waiting: [any WaitingRequest] = []
    /// Nil where nothing is decided in the input's order.
    var gates: AcceptFilter?
    var isDeciding = false
    /// The store knows where what is needed ends.
    var knowsEnd = false
    /// Positions of failed lines, while it is not known which are needed.
    var failedPositions: [Int] = []
    /// Equal requests, which are computed once.
    var equals = EqualRequests()
    /// Whether any answer is judged, so that its request may come again.
    private var judges = false
    private var text: (any TextCoding)?

    var statistics = RunStatistics()
    var failures: [FailedLine] = []
    var faulty = FaultyLines()
    /// Number of a line's requests that the loop has.
    var open: [Int: Int] = [:]
    /// Once the model is there and the first request admitted: what speeds are reckoned from.
    private var hasBegun = false
    /// The engine's times until then.
    var timesBefore: ComputeTimes?
    private var energy: EnergyMeter?
    /// Energy of the processors since then, in joules; nil if they don't tell.
    var joules: Double? { energy?.joules() }
    var started = ContinuousClock.now
    var startedAt = Date().timeIntervalSince1970
    var lastSaving = ContinuousClock.now
    var lastProgress = ContinuousClock.now

    /// - Parameters:
    ///   - stopFlag: once set, the job saves what is under way and ends, resumable.
    ///   - progress: called from time to time, on the loop's thread.
    ///   - ended: called once, on the loop's thread, when `result` is there.
    /// - Throws: `UserError` if a template of the job is malformed.
    ///   - follows: the input is read on while it grows.
    ///   - piped: what is read in place of the input; the store, too.
    ///   - answers: looked up before a request begins, and added to.
    ///   - readsAhead: lines are read on a thread of their own, and not when the loop asks for requests.
    package init(
        job: JobSettings, models: ModelLoader, store: any ResultStore, stopFlag: StopFlag = StopFlag(),
        follows: Bool = false, piped: PipedLines? = nil, answers: StoredAnswers? = nil,
        readsAhead: Bool = true,
        progress: @escaping (RunStatistics) -> Void = { _ in },
        ended: @escaping (Result<RunOutcome, any Error>) -> Void = { _ in }
    ) throws {
        self.job = job
        self.models = models
        self.store = SharedStore(store)
        self.stopFlag = stopFlag
        self.progress = progress
        self.ended = ended
        (self.follows, self.piped, self.answers) = (follows, piped, answers)
        if piped != nil, AcceptFilter(job) != nil {
            throw UserError(.badJob, "distinct and until need an input that is there, and no pipe.")
        }
        self.readsAhead = readsAhead
        sharedModel = answers?.model ?? (job.computesEqualsOnce ? [] : nil)
        gates = AcceptFilter(job)
        // Rows that wait for others of their line leave room for other lines.
        queue = RequestQueue(
            countLimit: min(1 << 14, max(64, 8 * job.engine.workerCount) * (gates?.quota?.waitingRows ?? 1)))
        let work = FollowedEnd(endsWhenIdle: job.output != "-", stopFlag: stopFlag)
        self.work = work
        followed = follows ? FollowedInput(job, goesOn: work.mayGrow) : nil
        feeder = try InputProducer(
            job: job, models: models, store: self.store, queue: queue, piped: piped, follow: followed,
            sharing: sharedModel)
    }

    // MARK: Requests

    package var isCancelled: Bool { stopFlag.isSet || endsEarly }

    package func next(patience: Double) throws -> SourceAnswer {
        if !hasStarted {
            hasStarted = true
            if !follows, piped == nil { total.countSome(job) }
            try feeder.start(ahead: readsAhead)
        }
        // A step between two may be due.
        var copies = 0
        while !isCancelled, copies < EqualRequests.copiesAtOnce {
            if gates?.isEnough == true { return .end }
            if var request = again.popFirst() {
                if giveUp(request.work) { continue }
                guard try isShared(&request) else { return .request(request) }
                copies += 1
                continue
            }
            if let place = waiting.firstIndex(where: \.isReady) {
                try begin(waiting.remove(at: place))
                continue
            }
            guard equals.mayGrow else { break }
            // Results that can't be put out yet are held in memory; so none may run too far ahead.
            let turn = StartOrder(
                limit: min(store.positionLimit, gates?.positionLimit ?? .max), quota: gates?.quota)
            let popped = try queue.pop(
                patience: patience, in: turn, cost: flows ? nil : { [expected] in expected.cost(of: $0) })
            if let label = popped.label, turn.quota?.need(of: label.position) == .notNeeded {
                try end(label, with: StepsResult([], dropped: JobStep.until))
                copies += 1
                continue
            }
            switch popped {
            case .request(var request):
                if piped?.drops(request.work) == true {
                    piped?.gone(request.work)
                    continue
                }
                open[request.work.index, default: 0] += 1
                judges = judges || request.owner.mayComeAgain
                work.set(running: open.count)
                guard try isShared(&request) else { return .request(request) }
                copies += 1
            case .failure(let label, let error):
                try file(error, label, counts: label.isDone ? isFirstFault(of: label) : nil)
                try decide()
            case .outcome(let label, let outcome):
                open[label.index, default: 0] += 1
                judges = true
                work.set(running: open.count)
                try settle(outcome, of: label)
                copies += 1
            case .past(let row):
                try take(row)
                try decide()
                copies += 1
            case .wait:
                reportIfDue()
                return .wait
            case .end:
                guard judges, !open.isEmpty else { return .end }
                // Nothing else is left to do.
                guard waiting.count + (gates?.heldCount ?? 0) == open.values.reduce(0, +),
                    let first = waiting.first
                else {
                    return .wait
                }
                waiting.removeFirst()
                try begin(first)
            }
        }
        reportIfDue()
        return .wait
    }

    /// Nothing is asked of the model for it.
    private func end(_ label: RequestLabel, with result: any TaskResult) throws {
        open[label.index, default: 0] += 1
        try settle(.made(result, .zero, isOwn: true), of: label)
    }

    /// Waits for it if it is not ready.
    private func begin(_ waiting: any WaitingRequest) throws {
        do throws(LineError) { again.append(try waiting.begun()) } catch {
            try settle(.failed(error), of: waiting.request.work)
        }
    }

    package func note(on choice: SampledToken) -> String? {
        if text == nil { text = try? models.loaded().text }
        return text.map { LogprobEntry(choice, text: $0).encoded }
    }

    package func admitted(_ sequence: TokenSequence) {
        if !hasBegun {
            hasBegun = true
            energy = EnergyMeter()
            started = .now
            startedAt = Date().timeIntervalSince1970
            // Not before: a thread takes address space that the check of the model's memory would miss.
            if !follows, piped == nil { total.start(job) }
        }
        // Completions of one line share their prompt.
        if !sequence.request.owner.sharesPrompt {
            statistics.promptTokens += sequence.request.prompt.count
        }
        if sequence.decoding.savedCount > 0 { statistics.resumed += 1 }
    }

    package func received(_ text: String, of sequence: TokenSequence) {
        guard let piped else { return }
        let owner = sequence.request.owner
        piped.received(text, of: owner.label, isCertain: owner.isCertain) { owner.reasoning(of: sequence) }
    }

    // MARK: Requests that nobody waits for any more

    package var drops: Bool { piped?.drops ?? false || gates?.isEnough ?? false }

    package func drops(_ request: Request) -> Bool { giveUp(request.work) }

    /// - Returns: whether the request, which is open, is cancelled; then it is closed.
    private func giveUp(_ label: RequestLabel) -> Bool {
        if gates?.isEnough == true {
            close(label)
            return true
        }
        guard piped?.drops(label) == true else { return false }
        close(label)
        piped?.gone(label)
        return true
    }

    // MARK: Results

    package func finished(_ sequence: TokenSequence, provenance: [String: String]) throws {
        expected.note(sequence)
        try take(sequence, as: sequence.request.owner, provenance)
        try share(sequence, provenance)
    }

    /// - Parameter owner: the work that the sequence is the outcome of; it may have been computed for an equal one.
    func take(_ sequence: TokenSequence, as owner: any RequestOwner, _ provenance: [String: String]) throws {
        try settle(owner.outcome(of: sequence, provenance), of: owner.label)
    }

    /// - Parameter isOfLine: an error is one of all the line's samples.
    func settle(_ outcome: RequestOutcome, of label: RequestLabel, isOfLine: Bool = false) throws {
        try take(outcome, of: label, isOfLine: isOfLine)
        try decide()
    }

    private func take(_ outcome: RequestOutcome, of label: RequestLabel, isOfLine: Bool) throws {
        switch outcome {
        case .made(let made, let timing, let isOwn):
            close(label)
            statistics.done += 1
            if !isOwn { statistics.copied += 1 }
            note(made, timing, isOwn: isOwn)
            try put(GenerationResult(made, timing: timing, kept: label.kept), label)
        case .held(let row): try hold(row)
        case .failed(let error, let text):
            if !isOfLine { return try fail(label, error, text: text) }
            close(label)
            try file(error, label)
        case .again(let request):
            statistics.turnedDown += 1
            again.append(request)
        case .more(let works):
            open[label.index, default: 1] += works.count - 1
            for work in works {
                switch work {
                case .request(let request): again.append(request)
                case .waiting(let request): waiting.append(request)
                case .failure(let label, let error): try fail(label, error)
                case .outcome, .past: preconditionFailure("a step's work is a request")
                }
            }
        case .open: close(label)
        }
    }

    private func note(_ made: any TaskResult, _ timing: GenerationResult.Timing, isOwn: Bool) {
        if let tally = made.tally { statistics.tally[tally, default: 0] += 1 }
        guard let completion = made.completion else { return }
        statistics.finishReasons[completion.finishReason?.rawValue ?? "", default: 0] += 1
        guard isOwn else { return }
        statistics.firstTokenTimes.add(timing.prefill ?? 0)
        statistics.requestTimes.add(timing.running)
    }
}
