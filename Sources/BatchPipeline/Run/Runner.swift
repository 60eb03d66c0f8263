import Foundation
import Foundations
import PhiModel

/// Drives a job from its lines to its results, on the thread that calls `run`.
///
/// A second thread reads ahead (`LineFeeder`). Between them lies a queue, so that parsing and tokenizing
/// don't hold up the model, and no more lines are read than will soon be needed.
public final class Runner {
    static let failuresReported = 5

    private let job: JobSettings
    private let models: ModelLoader
    private let store: SharedStore
    private let stopFlag: StopFlag
    private let progress: (RunStatistics) -> Void

    private let queue: WorkQueue
    private let feeder: LineFeeder
    private let results: ResultRecord
    private var scheduler: Scheduler
    /// Admitted requests, by position.
    private var active: [Int: Completion] = [:]
    /// The first in line: taken from the queue, but not admitted yet.
    private var first: Completion?
    private var inputEnded = false

    private var statistics = RunStatistics()
    private var failures: [FailedLine] = []
    /// Once the model is there and the first request admitted: what speeds are reckoned from.
    private var hasBegun = false
    private var started = ContinuousClock.now
    private var startedAt = Date().timeIntervalSince1970
    private var lastSaving = ContinuousClock.now
    private var lastProgress = ContinuousClock.now

    /// With a model that is there already.
    /// - Throws: `JobError` if a template of the job is malformed, or the job asks for what the model lacks.
    public convenience init(
        job: JobSettings, model: any BatchModel, store: any ResultStore, stopFlag: StopFlag = StopFlag(),
        progress: @escaping (RunStatistics) -> Void = { _ in }
    ) throws {
        try self.init(job: job, store: store, stopFlag: stopFlag, progress: progress) { model }
        _ = try models.loaded()
    }

    /// - Parameters:
    ///   - stopFlag: once set, the run saves what is under way and ends, resumable.
    ///   - progress: called from time to time, on the thread that runs.
    ///   - loadModel: called once, on another thread, when a line first needs the model; never if all
    ///     lines are done. What it throws ends the run.
    /// - Throws: `JobError` if a template of the job is malformed.
    public init(
        job: JobSettings, store: any ResultStore, stopFlag: StopFlag = StopFlag(),
        progress: @escaping (RunStatistics) -> Void = { _ in },
        loadModel: @escaping () throws -> any BatchModel
    ) throws {
        self.job = job
        models = ModelLoader(job: job, load: loadModel)
        self.store = SharedStore(store)
        self.stopFlag = stopFlag
        self.progress = progress
        queue = WorkQueue(countLimit: max(64, 2 * job.workerCount))
        feeder = try LineFeeder(job: job, models: models, store: self.store, queue: queue)
        results = ResultRecord(job: job)
        scheduler = Scheduler(workers: job.workerCount, prefillChunk: job.prefillChunk)
    }

    /// Runs the job to its end, or until the stop flag is set. To be called once.
    /// - Throws: what the input, the model or the store can't recover from; the job is resumable then.
    public func run() throws -> RunOutcome {
        feeder.start()
        defer { queue.close() }
        do {
            while !stopFlag.isSet {
                try admit()
                if scheduler.isIdle {
                    if inputEnded, stopFlag.beginEnd() { return try conclude() }
                    continue
                }
                try step()
                try saveIfDue()
                reportIfDue()
            }
            try saveInFlight()
            try store.close { try $0.suspend() }
            return outcome(.interrupted)
        } catch {
            // The first error is the one to tell; saving may well fail for the same reason.
            try? saveInFlight()
            try? store.close { try $0.suspend() }
            throw error
        }
    }

    // MARK: Admission

    /// Fills free slots from the queue. Waits for work only if the model has nothing else to do.
    private func admit() throws {
        while scheduler.canAdmit, !stopFlag.isSet {
            if first == nil, try !takeNext() { return }
            guard let completion = first else { continue }
            // Results that can't be put out yet are held in memory; so none may run too far ahead.
            guard completion.request.label.position < store.use({ $0.positionLimit }) else { return }
            let admission: Admission
            do {
                admission = try models.loaded().admit(
                    prompt: completion.request.prompt, maxTokens: completion.request.maxTokens)
            } catch let error as ModelError where error.kind == .resources || error.kind == .badRequest {
                first = nil
                let code = error.kind == .resources ? LineError.Code.noRoom : .badPrompt
                try file(LineError(code, error.message), completion.request.label)
                continue
            }
            switch admission {
            case .admitted(let sequence, let cached):
                first = nil
                begin(completion, sequence, cached: cached)
            case .later where scheduler.isIdle:
                throw ModelError(.resources, "the model has no room for a request although it is idle.")
            case .later: scheduler.postpone()
            }
        }
    }

    private func begin(_ waiting: Completion, _ sequence: SequenceID, cached: Int) {
        if !hasBegun {
            hasBegun = true
            started = .now
            startedAt = Date().timeIntervalSince1970
        }
        var completion = waiting
        completion.begin(sequence, cached: cached)
        let position = completion.request.label.position
        scheduler.admit(position, rows: completion.unsent.count)
        statistics.promptTokens += completion.request.prompt.count
        if completion.savedCount > 0 { statistics.resumed += 1 }
        active[position] = completion
    }

    /// Makes the next request the first in line. Failed lines are filed on the way.
    /// - Returns: false if there is none (yet).
    private func takeNext() throws -> Bool {
        switch try queue.pop(patience: scheduler.isIdle ? 0.1 : 0) {
        case .work(.request(let request)):
            let model = try models.loaded()
            let fresh = Completion(request, model: model, ignoresEndOfSequence: job.ignoreEndOfSequence)
            first = fresh.resumed(limits: model.limits) ?? fresh
            return true
        case .work(.failure(let label, let error)):
            try file(error, label)
            return true
        case .wait:
            reportIfDue()
            return false
        case .end:
            inputEnded = true
            return false
        }
    }

    // MARK: Steps

    private func step() throws {
        let parts = scheduler.nextStep()
        var inputs: [StepInput] = []
        inputs.reserveCapacity(parts.count)
        for part in parts {
            guard let sequence = active[part.request]?.sequence,
                let input = active[part.request]?.send(part.rows, samples: part.samples, to: sequence)
            else { preconditionFailure("the scheduler named a request that is not active") }
            inputs.append(input)
        }
        let model = try models.loaded()
        let start = ContinuousClock.now
        let choices = try model.step(inputs)
        let seconds = (.now - start).seconds
        scheduler.stepTook(seconds)
        count(parts, seconds: seconds, times: model.times)
        precondition(choices.count == parts.count, "a step answers each of its inputs")
        for (part, choice) in zip(parts, choices) where part.samples {
            guard let choice else { preconditionFailure("a step chooses a token where one is asked for") }
            statistics.completionTokens += 1
            active[part.request]?.accept(choice, model: model)
            if active[part.request]?.finishReason != nil { try retire(part.request) }
        }
    }

    private func count(_ parts: [Scheduler.Part], seconds: Double, times: ComputeTimes) {
        let rows = parts.reduce(0) { $0 + $1.rows }
        let prefill = Double(parts.reduce(0) { $0 + ($1.rows > 1 ? $1.rows : 0) }) / Double(max(1, rows))
        statistics.prefillSeconds += seconds * prefill
        statistics.decodeSeconds += seconds * (1 - prefill)
        statistics.compute = times
    }

    private func retire(_ request: Int) throws {
        guard let completion = active.removeValue(forKey: request) else { return }
        let model = try models.loaded()
        let provenance = completion.sequence.map { model.provenance(of: $0) } ?? [:]
        if let sequence = completion.sequence { model.release(sequence) }
        scheduler.release(request)
        try file(completion, provenance: provenance)
    }

    // MARK: Results

    private func file(_ completion: Completion, provenance: [String: String] = [:]) throws {
        let label = completion.request.label
        let line = results.encode(completion, provenance: provenance)
        statistics.done += 1
        try store.use { try $0.append(line, key: label.key, position: label.position, failed: false) }
    }

    private func file(_ error: LineError, _ label: WorkLabel) throws {
        if label.sample == 0 {
            statistics.failed += 1
            if failures.count < Self.failuresReported {
                failures.append(
                    FailedLine(id: label.key.id, file: label.file, line: label.lineNumber, error: error))
            }
        }
        let line = results.encode(error, label)
        try store.use { try $0.append(line, key: label.key, position: label.position, failed: true) }
    }

    private func conclude() throws -> RunOutcome {
        let count = feeder.count
        let allowed = job.maxFailures.allowed(of: count.lines)
        guard statistics.failed <= allowed else {
            try store.close { try $0.suspend() }
            return outcome(.tooManyFailures(allowed: allowed))
        }
        try store.close { try $0.finish(count: count.positions) }
        return outcome(.complete)
    }

    // MARK: Checkpoints and progress

    private func saveIfDue() throws {
        guard (.now - lastSaving).seconds >= job.checkpointInterval else { return }
        try saveInFlight()
    }

    /// Saves what is under way. (What an earlier run saved of requests that still wait, the store keeps.)
    private func saveInFlight() throws {
        let records = active.sorted { $0.key < $1.key }.compactMap(\.value.inFlightRecord)
        let count = feeder.count
        try store.use { store in
            (store as? JournalStore)?.progress = JobProgress(
                startedAt: startedAt, resultsTotal: count.isWhole ? count.positions : nil,
                doneThisRun: statistics.done, completionTokensThisRun: statistics.completionTokens)
            try store.saveInFlight(records)
        }
        lastSaving = .now
    }

    private func reportIfDue() {
        guard (.now - lastProgress).seconds >= 0.1 else { return }
        lastProgress = .now
        progress(currentStatistics)
    }

    private var currentStatistics: RunStatistics {
        var statistics = statistics
        let count = feeder.count
        statistics.lines = count.lines
        statistics.skipped = count.done
        statistics.running = scheduler.runningCount
        statistics.seconds = (.now - started).seconds
        return statistics
    }

    private func outcome(_ status: RunOutcome.Status) -> RunOutcome {
        RunOutcome(
            status: status, statistics: currentStatistics, failures: failures,
            unfinished: feeder.count.unfinished)
    }
}
