import BatchEngine
import JSON
import OperatingSystem
import TokenConstraints

/// Counts of what has been read of an input so far; most are also in `RunStatistics`.
package struct InputCount: Sendable {
    package var read = ReadLines()
    /// Pieces of work: lines times samples.
    var positions = 0
    /// Pieces of work that an earlier run has done.
    var done = 0
    var covered = 0
    var missing: [String: Int] = [:]
    /// Whether that is all there is.
    var isWhole = false
    /// Kept fields that the lines lack.
    package var missingFields = MissingFields()
    /// Warnings of the input's files.
    package var warnings: [String] = []
}

/// Reads lines ahead of the model, on a thread of its own: passes over those that are done, and turns the others into
/// token ids.
// Unchecked, as the compiler doesn't know of the feeder's thread: what no lock guards is used by that one alone.
final class InputProducer: @unchecked Sendable {
    private let job: JobSettings
    private let models: ModelLoader
    private let store: SharedStore
    private let queue: RequestQueue
    private let preparer: LinePreparer
    /// Model that equal requests share (`RequestMaker.model`).
    private let sharedModel: [UInt8]?
    /// Nil where rows that are done decide nothing of others.
    private let plan: StepPlan?
    private let counted = Mutex(InputCount())
    // Used by the feeder's thread alone.
    private var lines: JobLines
    private var hasLookedAhead = false
    /// Once a line has needed its model.
    private var maker: RequestMaker?

    /// - Throws: `UserError` if a template of the job is malformed.
    /// - Parameters:
    ///   - piped: what is read in place of the job's input; ids may come again.
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
        lines = try JobLines(
            job, earlier: store.use { $0.log?.earlierSchemes ?? [] },
            reader: piped.map { InputReader($0) }, follow: follow, isWhole: piped == nil)
    }

    var count: InputCount { counted.withLock { $0 } }

    /// - Throws: `UserError` of kind `resources` if there can be no thread.
    func start() throws {
        try WorkerThread.startOrExplain("lines") { while self.queue.waitForRoom(), self.step() {} }
    }

    /// Reads one line.
    /// - Returns: false if that was the last, or the run is over.
    func step() -> Bool {
        do {
            let line = try lines.next()
            counted.withLock { $0.read = lines.read }
            if let line { return try feed(line) }
            counted.withLock { ($0.isWhole, $0.warnings) = (true, lines.warnings) }
            try store.use { try $0.log?.inputEnds(lines.read) }
            queue.finish()
        } catch let error as UserError where error.kind == .wouldLose {
            queue.fail(error)
        } catch {
            queue.finish(error)
        }
        return false
    }

    /// - Returns: false if the run is over.
    private func feed(_ line: JobLine) throws -> Bool {
        let samples = line.samples(in: job)
        var kept = line.fields.map { job.keep.values(of: $0, for: job.task) } ?? [:]
        if job.outputFormat.isByLine {
            kept[OpenAIRequest.keptName] = OpenAIRequest.kept(line.request, samples: samples, in: job)
        }
        var prepared: Result<PreparedLine, LineError>?
        var earlier: [JSONMember]?
        for sample in 0..<samples {
            var label = RequestLabel(
                position: count.positions, index: line.place, sample: sample,
                key: try line.key(sample, filed: store.filedHashes),
                file: line.file, lineNumber: line.number)
            label.kept = kept
            label.redo = line.redo(of: label.key)
            guard
                let state = try store.whileOpen({ try $0.claim(label.key, position: label.position) })
            else { return false }
            counted.withLock { $0.positions += 1 }
            if case .done(let failed) = state {
                if !failed {
                    counted.withLock { $0.done += 1 }
                    try pushPast(label, line.fields)
                    continue
                }
                // Its row says where the line is; one that has moved is tried again.
                if let known = try result(of: label), let failure = known.failure,
                    known.error?.int("line") == label.lineNumber,
                    known.error?.string("file") ?? label.file == label.file
                {
                    label.isDone = true
                    queue.push(.outcome(label, .failed(failure)))
                    continue
                }
            }
            if !hasLookedAhead {
                hasLookedAhead = true
                let others = try (sample + 1..<samples).map { try line.key($0, filed: store.filedHashes) }
                try lookAhead(past: line, samples: others)
            }
            if prepared == nil, let fields = line.fields {
                counted.withLock { counted in
                    counted.missingFields.note(fields, at: "\(line.file):\(line.number)", job.keep)
                }
            }
            let result = try prepared ?? prepare(line.record)
            prepared = result
            let works: [PendingRequest]
            switch result {
            case .success(let prepared):
                var saved: InFlightRecord?
                if case .inFlight(let record) = state { saved = record }
                earlier = try earlier ?? store.use { try $0.log?.earlierSteps(of: line.id) } ?? []
                label.knows(earlier ?? [])
                label.readyAt = .now
                works = prepared.work(label, saved)
            case .failure(let error): works = [.outcome(label, .failed(error))]
            }
            works.forEach(queue.push)
        }
        return true
    }

    private func result(of label: RequestLabel) throws -> GenerationResult? {
        try store.whileOpen { try $0.result(at: label.position) }
    }

    /// Rows that are done decide of others.
    private func pushPast(_ label: RequestLabel, _ fields: JSONValue?) throws {
        guard let plan else { return }
        queue.push(
            .past(
                PastRow(
                    try result(of: label), plan, id: label.key.id, position: label.position,
                    fields: fields)))
    }

    // MARK: From a record to token ids

    private func prepare(
        _ record: Result<PromptRecord, LineError>
    ) throws -> Result<PreparedLine, LineError> {
        do {
            let prepared = try preparer.prepare(record.get(), by: loaded)
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
    private func loaded() throws -> RequestMaker {
        if let maker { return maker }
        let model = try models.loaded(for: job)
        var new = RequestMaker(model.text, model.engine.limits, model.grammars)
        (new.rope, new.model, new.waiter) = (job.engine.longRope, sharedModel, queue.wake)
        maker = new
        return new
    }

    /// Looks through the lines to come, before the first work on one of them: an input from which too many lines are
    /// gone shows itself before the work, and not at its end. It goes no further than needed: where an input was only
    /// added to, it doesn't even begin.
    ///
    /// Needs an input that can be read twice. With others the same is found when all lines are read.
    /// - Parameters:
    ///   - line: the last line that is claimed.
    ///   - samples: its samples that are not claimed yet.
    /// - Throws: `UserError` of kind `wouldLose`, or if the input can't be read.
    private func lookAhead(past line: JobLine, samples: [ResultKey]) throws {
        /// - Returns: whether to go on: neither is the run over, nor is all known.
        func look(at key: ResultKey) throws -> Bool {
            try store.whileOpen { store in
                try store.log?.lookAhead(at: key)
                return store.log?.needsLookAhead
            } ?? false
        }
        guard store.use({ $0.log?.needsLookAhead ?? false }), try job.canReadTwice(),
            try samples.allSatisfy(look)
        else { return }
        var following = lines.following(line)
        while let line = try following.next() {
            for sample in 0..<line.samples(in: job) {
                let key = try line.key(sample, filed: store.filedHashes)
                guard try look(at: key) else { return }
            }
        }
        try store.use { try $0.log?.inputEnds(following.read) }
    }
}
