import BatchEngine
import FoundationShim
import JSON
import OperatingSystem
import PhiText

/// One job in a loop: its lines become requests, and what comes of them goes to its store. Its own are input,
/// log, settings, statistics and failure limit.
///
/// A thread of its own reads ahead (`InputProducer`). Between them lies a queue, so that parsing and tokenizing
/// don't hold up the engine, and no more lines are read than will soon be needed: enough to see the end coming, where
/// long ones go first.
package final class JobRun: RequestSource {
    static let failuresReported = 5
    /// Seconds from which on an output is put in place although lines of a followed input keep coming.
    private static let followedSeconds = 60.0

    package var workers: Int { job.engine.workerCount }
    var prefillChunk: Int { job.engine.prefillChunk }
    package var speculation: Speculation { job.engine.speculation }
    /// End of the job; nil before.
    var result: Result<RunOutcome, any Error>?

    let job: JobSettings
    let models: ModelLoader
    let store: SharedStore
    /// Log of its results; nil if they go to a stream.
    package let log: LogStore?
    /// Store of earlier answers, of this job or others; nil if the job asks for none.
    let answers: StoredAnswers?
    /// The model that equal requests have in common; nil if equal ones are of no interest.
    let sharedModel: [UInt8]?
    let stopFlag: StopFlag
    let progress: (RunStatistics) -> Void
    let ended: (Result<RunOutcome, any Error>) -> Void

    let queue: RequestQueue
    let feeder: InputProducer
    /// Number of lines that the run will take up, for progress only; nil while it isn't known, or if it can't be.
    let total = Mutex<Int?>(nil)
    let follows: Bool
    /// Whether requests are under way.
    private let isBusy = Mutex(false)
    let followed: FollowedInput?
    let piped: PipedLines?
    private let readsAhead: Bool
    var expected = ExpectedLength()
    private var hasStarted = false
    /// More lines have failed than may.
    var endsEarly = false
    /// Owners of the requests that the loop has, by the requests' numbers.
    var open: [Int: OwnedRequest] = [:]
    private var lastNumber = 0
    /// Nil where nothing is decided in the input's order.
    var gates: AcceptFilter?
    var isDeciding = false
    /// Positions of failed lines, while it is not known which are needed.
    var failedPositions: [Int] = []
    /// Equal requests, which are computed once.
    var equals = EqualRequests()
    private var text: (any TextCoding)?

    var statistics = RunStatistics()
    var failures: [FailedLine] = []
    /// Lines of which a sample has failed: each sample may, or may not, and the line counts once.
    var faulty: Set<Int> = []
    /// Once the model is there and the first request admitted: what speeds are reckoned from.
    private var hasBegun = false
    /// The engine's times until then.
    var timesBefore: ComputeTimes?
    /// Energy of the processors since then.
    var energy: EnergyMeter?
    var started = ContinuousClock.now
    var startedAt = Date().timeIntervalSince1970
    var lastSaving = ContinuousClock.now
    var lastProgress = ContinuousClock.now

    /// - Parameters:
    ///   - stopFlag: once set, the job saves what is under way and ends, resumable.
    ///   - progress: called from time to time, on the loop's thread.
    ///   - ended: called once, on the loop's thread, when `result` is there.
    ///   - follows: the input is read on while it grows.
    ///   - piped: what is read in place of the input; the store, too.
    ///   - answers: looked up before a request begins, and added to.
    ///   - readsAhead: lines are read on a thread of their own, and not when the loop asks for requests.
    /// - Throws: `UserError` if a template of the job is malformed.
    package init(
        job: JobSettings, models: ModelLoader, store: any ResultStore, stopFlag: StopFlag = StopFlag(),
        follows: Bool = false, piped: PipedLines? = nil, answers: StoredAnswers? = nil,
        readsAhead: Bool = true,
        progress: @escaping (RunStatistics) -> Void = { _ in },
        ended: @escaping (Result<RunOutcome, any Error>) -> Void = { _ in }
    ) throws {
        self.job = job
        self.models = models
        (self.store, log) = (SharedStore(store), store.log)
        self.stopFlag = stopFlag
        self.progress = progress
        self.ended = ended
        (self.follows, self.piped, self.answers) = (follows, piped, answers)
        if piped != nil, AcceptFilter(job) != nil {
            throw UserError(.badJob, "distinct and until need an input that is there, and no pipe.")
        }
        self.readsAhead = readsAhead
        sharedModel =
            answers?.model ?? store.log?.fingerprint.model ?? (job.computesEqualsOnce ? [] : nil)
        gates = AcceptFilter(job)
        // Rows that wait for others of their line leave room for other lines.
        queue = RequestQueue(
            countLimit: min(1 << 14, max(64, 8 * job.engine.workerCount) * (gates?.quota?.waitingRows ?? 1)))
        let begun = ContinuousClock.now
        // Into a stream an input is read on until the run is stopped. An output is put in place from time to time: once
        // all lines so far are done, or when some time has passed. Then the next run takes up what has come meanwhile.
        followed =
            follows
            ? FollowedInput(job) { [isBusy, stopFlag, job] in
                if stopFlag.isSet { return false }
                return job.output == "-"
                    || isBusy.withLock(\.self) && (.now - begun).seconds < Self.followedSeconds
            } : nil
        feeder = try InputProducer(
            job: job, models: models, store: self.store, queue: queue, piped: piped, follow: followed,
            sharing: sharedModel)
    }

    /// Runs jobs to their ends on this thread, with one model, their lines batched together. An error of one doesn't
    /// affect the others.
    /// - Parameter models: their model, loaded when a line first needs it. Its error ends all jobs.
    package static func run(_ jobs: [JobRun], on models: ModelLoader) {
        let scheduler = Scheduler(
            workers: jobs.map(\.workers).max() ?? 1, prefillChunk: jobs.map(\.prefillChunk).max() ?? 1)
        let loop = BatchLoop(scheduler: scheduler) { try models.loaded().engine }
        for job in jobs { loop.add(job) }
        loop.run()
    }

    // MARK: Requests

    package var isCancelled: Bool { stopFlag.isSet || endsEarly }

    package func next(patience: Double) throws -> SourceAnswer {
        if !hasStarted {
            hasStarted = true
            countLines()
            if readsAhead { try feeder.start() }
        }
        note(isBusy: isUnderWay)
        // A step between two may be due.
        var copies = 0
        while !isCancelled, copies < EqualRequests.copiesAtOnce {
            if gates?.isEnough == true { return .end }
            guard equals.mayGrow else { break }
            while !readsAhead, queue.hasRoom, feeder.step() {}
            // Results that can't be put out yet are held in memory; so none may run too far ahead.
            let (limit, quota) = (min(store.positionLimit, gates?.positionLimit ?? .max), gates?.quota)
            // Readers of a stream want its results in order.
            let cost = job.output == "-" ? nil : expected.cost
            let (popped, isEnd) = try queue.pop(patience: patience, below: limit, quota, cost: cost)
            guard let work = popped else {
                if isEnd { return isUnderWay ? .wait : .end }
                break
            }
            if let label = work.label, quota?.need(of: label.position) == .notNeeded {
                var row = GenerationResult.row([], dropped: JobStep.until)
                row.timing = ResultTime.none
                try settle(.made(row, isOwn: true), of: label)
            } else if let request = try begun(work) {
                return .request(request)
            }
            copies += 1
        }
        reportIfDue()
        return .wait
    }

    /// Whether any line has begun and not come to its end.
    private var isUnderWay: Bool {
        !open.isEmpty || gates.map { $0.heldCount > 0 } ?? false || queue.hasBegun
    }

    private func note(isBusy: Bool) { self.isBusy.withLock { $0 = isBusy } }

    /// Returns a request for the loop; nil if there is nothing to compute.
    private func begun(_ work: PendingRequest) throws -> Request? {
        switch work {
        case .request(var owned):
            if isGone(owned.label) { return nil }
            do throws(LineError) { try owned.takeConstraint() } catch {
                try settle(owned.failed(error, nil), of: owned.label)
                return nil
            }
            if try isShared(&owned) { return nil }
            lastNumber += 1
            owned.request.number = lastNumber
            open[lastNumber] = owned
            note(isBusy: true)
            return owned.request
        case .outcome(let label, let outcome): try settle(outcome, of: label)
        case .past(let row):
            gates?.take(row)
            try tellEnd()
            try decide()
        }
        return nil
    }

    /// Returns the owner of a request that the loop has no more.
    func closed(_ request: Request) -> OwnedRequest {
        guard let owner = open.removeValue(forKey: request.number) else {
            preconditionFailure("a request of another source")
        }
        return owner
    }

    package func note(on choice: SampledToken) -> String? {
        if text == nil { text = try? models.loaded().text }
        return text.map { JSONWriter.text(of: LogprobEntry.json(choice, text: $0)) }
    }

    package func admitted(_ sequence: TokenSequence) {
        if !hasBegun {
            hasBegun = true
            energy = EnergyMeter()
            started = .now
            startedAt = Date().timeIntervalSince1970
            // Not before: a thread takes address space that the check of the model's memory would miss.
            countOtherLines()
        }
        // Completions of one line share their prompt.
        if open[sequence.request.number]?.sharesPrompt == false {
            statistics.promptTokens += sequence.request.prompt.count
        }
        if sequence.savedCount > 0 { statistics.resumed += 1 }
    }

    package func received(_ text: ReasoningReader.Piece, of sequence: TokenSequence) {
        guard let piped, !text.answer.isEmpty, let owner = open[sequence.request.number] else { return }
        piped.received(text.answer, of: owner.label, isCertain: owner.isCertain) {
            owner.separatesReasoning
                ? sequence.decoding.of(SamplingDecoding.self).reasoningContent : nil
        }
    }

    // MARK: Requests that nobody waits for any more

    package var drops: Bool { piped?.drops ?? false || gates?.isEnough ?? false }

    package func drops(_ request: Request) -> Bool {
        guard let owner = open[request.number], isGone(owner.label) else { return false }
        open[request.number] = nil
        return true
    }

    private func isGone(_ label: RequestLabel) -> Bool {
        if gates?.isEnough == true { return true }
        guard piped?.drops(label) == true else { return false }
        piped?.gone(label)
        return true
    }
}
