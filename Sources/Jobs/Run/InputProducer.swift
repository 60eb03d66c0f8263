import BatchEngine
import Errors
import JSON
import OperatingSystem
import PhiText

/// Reads lines ahead of the model, on a thread of its own: parses them, passes over those that are done,
/// and turns the others into token ids.
// Unchecked, as the compiler doesn't know of the feeder's thread: what no lock guards is used by that one alone.
final class InputProducer: @unchecked Sendable {
    /// Counts of what has been read so far.
    struct Count: Sendable {
        var lines = 0
        /// Lines that are known by their number.
        var numbered = 0
        /// Pieces of work: lines times samples.
        var positions = 0
        /// Pieces of work that an earlier run has done.
        var done = 0
        /// Lines passed over, as they carry the error of an earlier step.
        var passedOver = 0
        /// Lines in which texts of control tokens are taken as text.
        var covered = 0
        /// Settings that OpenAI's requests asked for in vain: the number of lines, by name.
        var missing: [String: Int] = [:]
        /// Kept fields that the lines lack.
        var missingFields = MissingFields()
        var warnings: [String] = []
        /// Half lines at the end of the input, or of one of its files.
        var unfinished: [UnfinishedLine] = []
        /// Whether `lines` is all there are.
        var isWhole = false
    }

    private let job: JobSettings
    private let models: ModelLoader
    private let store: SharedStore
    private let queue: RequestQueue
    private let preparer: LinePreparer
    private let keys: LineKeys
    /// Model that equal requests share (`RequestMaker.model`).
    private let sharedModel: [UInt8]?
    /// Nil where rows that are done decide nothing of others.
    private let plan: StepPlan?
    private let reuse: RowReuse?
    private let counted = Mutex(Count())
    // Used by the feeder's thread alone.
    private var reader: InputReader
    private var input = InputSeen()
    /// Nil where ids may come again.
    private var seen: SeenIDs?
    private var hasLookedAhead = false
    /// Once a line has needed it.
    private var model: LoadedModel?
    /// Lines that count so far, whether they are taken up or not.
    private var place = 0

    /// - Throws: `UserError` if a template of the job is malformed.
    /// - Parameters:
    ///   - piped: what is read in place of the job's input.
    ///   - follow: for an input that is read on while it grows.
    init(
        job: JobSettings, models: ModelLoader, store: SharedStore, queue: RequestQueue,
        piped: PipedLines? = nil, follow: FollowedInput? = nil, sharing model: [UInt8]? = nil
    ) throws {
        (self.job, sharedModel) = (job, model)
        self.models = models
        self.store = store
        self.queue = queue
        preparer = try LinePreparer(job)
        plan = AcceptFilter(job) == nil ? nil : try StepPlan(job)
        reuse = try store.use { try RowReuse(job, $0) }
        keys = try LineKeys(job, earlier: store.use { $0.log?.earlierSchemes ?? [] })
        reader =
            piped.map { InputReader($0) } ?? job.inputReader(columns: keys.fields(of: job), follow: follow)
        seen = piped == nil ? SeenIDs() : nil
    }

    var count: Count { counted.withLock { $0 } }

    /// - Parameter ahead: whether lines are read on a thread of their own; else they are when the queue is asked for work.
    /// - Throws: `UserError` of kind `resources` if there can be no thread.
    func start(ahead: Bool) throws {
        guard ahead else { return queue.setSource { [unowned self] in step() } }
        do throws(SystemError) {
            try WorkerThread.start("lines") { while self.step() {} }
        } catch {
            throw UserError(
                .resources,
                "the thread that reads the input can't be made: \(error.reason). "
                    + "Raise the limit on processes (ulimit -u, or pids.max of the control group).")
        }
    }

    /// Reads one line.
    /// - Returns: false if that was the last, or the run is over.
    private func step() -> Bool {
        do {
            if var line = try reader.next() {
                guard line.isHalf else { return try feed(&line) }
                let half = UnfinishedLine(
                    file: line.file, line: line.number, bytes: line.bytes.count, what: line.whatIsBroken)
                counted.withLock { $0.unfinished.append(half) }
                return true
            }
            counted.withLock { ($0.isWhole, $0.warnings) = (true, reader.warnings) }
            input.lines = place
            let end = InputEnd(
                lines: count.lines, isCut: !count.unfinished.isEmpty, hasNumbered: count.numbered > 0,
                seen: input)
            try store.use { try $0.log?.inputEnds(end) }
            queue.finish()
        } catch let error as UserError where error.kind == .wouldLose {
            queue.fail(error)
        } catch {
            queue.finish(error)
        }
        return false
    }

    /// - Returns: false if the run is over.
    private func feed(_ line: inout InputRecord) throws -> Bool {
        input.add(line)
        guard let parsed = identify(line) else {
            counted.withLock { $0.passedOver += 1 }
            return true
        }
        let index = place
        place += 1
        guard job.selection.holds(index) else { return true }
        // A long line need not be in memory twice.
        line.bytes = []
        let samples = parsed.samples(in: job)
        var kept = parsed.fields.map { job.keep.values(of: $0, for: job.task) } ?? []
        if job.outputFormat.format.isByLine {
            kept.append(OpenAIRequest.kept(parsed.request, samples: samples, in: job))
        }
        counted.withLock { counted in
            counted.lines += 1
            if parsed.isNumbered { counted.numbered += 1 }
        }
        var prepared: Result<any PreparedLine, LineError>?
        for sample in 0..<samples {
            var label = RequestLabel(
                position: count.positions, index: index, sample: sample,
                key: try parsed.key(sample, filed: store.filedHashes),
                file: line.file, lineNumber: line.number)
            label.kept = kept
            label.redo = parsed.origin(of: label.key).redo
            if let scheme = keys.earlierScheme(of: label.key, parsed) {
                store.use { $0.log?.note(earlierScheme: scheme) }
            }
            guard let state = try store.claim(label.key, position: label.position) else { return false }
            counted.withLock { $0.positions += 1 }
            if case .done(let failed) = state {
                if !failed {
                    counted.withLock { $0.done += 1 }
                    guard try pushPast(label, parsed.fields) else { return false }
                    continue
                }
                // Its row says where the line is; one that has moved is tried again.
                if case .failed(let failure)? = try store.result(at: label.position)?.content,
                    failure.line == label.lineNumber, failure.file ?? label.file == label.file
                {
                    label.isDone = true
                    guard queue.push(.failure(label, failure.error)) else { return false }
                    continue
                }
            }
            if !hasLookedAhead {
                hasLookedAhead = true
                let others = try (sample + 1..<samples).map { try parsed.key($0, filed: store.filedHashes) }
                try LookAhead(job: job, store: store, keys: keys).look(
                    past: line.overallNumber, place: place, lines: count.lines,
                    hasNumbered: count.numbered > 0, samples: others)
            }
            if prepared == nil, let fields = parsed.fields {
                counted.withLock { counted in
                    counted.missingFields.note(fields, at: "\(line.file):\(line.number)", job.keep)
                }
            }
            let line = try prepared ?? prepare(parsed.record)
            prepared = line
            let works: [PendingRequest]
            switch line {
            case .success(let line):
                var saved: InFlightRecord?
                if case .inFlight(let record) = state { saved = record }
                if let reuse { saved = try reuse.added(to: saved, of: label, parsed, in: store) }
                works = try work(label, line, saved: saved)
            case .failure(let error): works = [.failure(label, error)]
            }
            for work in works { guard queue.push(work) else { return false } }
        }
        return true
    }

    /// Rows that are done decide of others.
    private func pushPast(_ label: RequestLabel, _ fields: JSONValue?) throws -> Bool {
        guard let plan else { return true }
        let result = try store.result(at: label.position)
        return queue.push(
            .past(PastRow(result?.made, plan, id: label.key.id, position: label.position, fields: fields)))
    }

    // MARK: From bytes to a record

    /// An id that has come before belongs to the line that came first.
    /// - Returns: nil for a line that is passed over.
    private func identify(_ line: InputRecord) -> LineIdentity? {
        var identity = LineIdentity(line, keys)
        if let error = identity.carriedError {
            if job.errorLines == .skip { return nil }
            identity.record = .failure(error)
        }
        if seen?.insert(identity.id) == false {
            identity.record = .failure(LineError(.duplicateID, "The id \"\(identity.id)\" has come before."))
        }
        return identity
    }

    // MARK: From a record to token ids

    private func prepare(
        _ record: Result<PromptRecord, LineError>
    ) throws -> Result<any PreparedLine, LineError> {
        do {
            let prepared = try preparer.prepare(record.get()) {
                let model = try loaded()
                return (model.text, model.engine.limits, model.grammars)
            }
            counted.withLock { counted in
                if prepared.isCovered { counted.covered += 1 }
                for name in prepared.missing { counted.missing[name, default: 0] += 1 }
            }
            return .success(prepared)
        } catch let error as LineError {
            return .failure(error)
        }
    }

    /// - Throws: what loading throws; `UserError` if the job asks for what the model lacks.
    private func loaded() throws -> LoadedModel {
        let loaded = try model ?? models.loaded(for: job)
        model = loaded
        return loaded
    }

    private func work(
        _ label: RequestLabel, _ line: any PreparedLine, saved: InFlightRecord?
    ) throws -> [PendingRequest] {
        let model = try loaded()
        var label = label
        label.readyAt = .now
        return line.work(
            label, saved: saved,
            RequestMaker(
                text: model.text, limits: model.engine.limits, rope: job.engine.longRope.engineValue,
                model: sharedModel, waiter: queue.waiter))
    }
}

/// A look through the lines to come, before the first work on one of them: an input from which too many lines
/// are gone shows itself before the work, and not at its end. It goes no further than needed: where an input was
/// only added to, it doesn't even begin.
///
/// Needs an input that can be read twice. With others the same is found when all lines are read.
struct LookAhead {
    let job: JobSettings
    let store: SharedStore
    let keys: LineKeys

    /// - Parameters:
    ///   - number: the overall number of the last line that is claimed.
    ///   - place: how many lines that count there are up to it.
    ///   - lines: how many of them are claimed.
    ///   - hasNumbered: whether some of these are known by their number.
    ///   - samples: of the last of them, those that are not claimed yet.
    /// - Throws: `UserError` of kind `wouldLose`, or if the input can't be read.
    func look(past number: Int, place: Int, lines: Int, hasNumbered: Bool, samples: [ResultKey]) throws {
        guard store.use({ $0.log?.needsLookAhead ?? false }), try job.canReadTwice() else { return }
        for key in samples {
            guard try store.lookAhead(at: key) else { return }
        }
        var reader = job.inputReader(columns: keys.fields(of: job))
        var end = InputEnd(lines: lines, hasNumbered: hasNumbered)
        var place = place
        while let line = try reader.next() {
            guard line.overallNumber > number else { continue }
            if line.isHalf {
                end.isCut = true
                continue
            }
            let identity = LineIdentity(line, keys)
            if job.errorLines == .skip, identity.carriedError != nil { continue }
            place += 1
            guard job.selection.holds(place - 1) else { continue }
            end.lines += 1
            if identity.isNumbered { end.hasNumbered = true }
            for sample in 0..<identity.samples(in: job) {
                let key = try identity.key(sample, filed: store.filedHashes)
                guard try store.lookAhead(at: key) else { return }
            }
        }
        try store.use { try $0.log?.inputEnds(end) }
    }
}
