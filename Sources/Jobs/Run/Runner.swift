import BatchEngine

/// Drives jobs from their lines to their results, on the thread that calls `run`: each is a `JobRun` in one
/// `BatchLoop`, so that their lines share the steps.
package final class Runner {
    private let jobs: [JobRun]
    private let loop: BatchLoop

    /// With a model that is there already.
    /// - Throws: `UserError` if a template of the job is malformed, or the job asks for what the model lacks.
    package convenience init(
        job: JobSettings, model: LoadedModel, store: any ResultStore, stopFlag: StopFlag = StopFlag(),
        answers: StoredAnswers? = nil, readsAhead: Bool = true,
        progress: @escaping (RunStatistics) -> Void = { _ in }
    ) throws {
        let models = ModelLoader { model }
        _ = try models.loaded(for: job)
        self.init(
            [
                try JobRun(
                    job: job, models: models, store: store, stopFlag: stopFlag, answers: answers,
                    readsAhead: readsAhead, progress: progress)
            ], models: models)
    }

    /// - Parameters:
    ///   - stopFlag: once set, the run saves what is under way and ends, resumable.
    ///   - progress: called from time to time, on the thread that runs.
    ///   - loadModel: called once, on another thread, when a line first needs the model; never if all
    ///     lines are done. What it throws ends the run.
    /// - Throws: `UserError` if a template of the job is malformed.
    package convenience init(
        job: JobSettings, store: any ResultStore, stopFlag: StopFlag = StopFlag(),
        progress: @escaping (RunStatistics) -> Void = { _ in },
        loadModel: @escaping @Sendable () throws -> LoadedModel
    ) throws {
        let models = ModelLoader(load: loadModel)
        self.init(
            [try JobRun(job: job, models: models, store: store, stopFlag: stopFlag, progress: progress)],
            models: models)
    }

    /// With jobs on one model.
    package init(_ jobs: [JobRun], models: ModelLoader) {
        self.jobs = jobs
        let scheduler = Scheduler(
            workers: jobs.map(\.workers).max() ?? 1,
            prefillChunk: jobs.map(\.prefillChunk).max() ?? 1)
        loop = BatchLoop(scheduler: scheduler) { try models.loaded().engine }
        for job in jobs { loop.add(job) }
    }

    /// Runs the job to its end, or until the stop flag is set. To be called once.
    /// - Throws: what the input, the model or the store can't recover from; the job is resumable then.
    package func run() throws -> RunOutcome { try runAll()[0].get() }

    /// Runs all jobs to their ends.
    package func runAll() -> [Result<RunOutcome, any Error>] {
        loop.run()
        return jobs.map { job in
            guard let result = job.result else { preconditionFailure("a loop ends when its jobs have ended") }
            return result
        }
    }
}

/// A store as a run uses it, which has one model.
package struct StoredAnswers {
    package let store: AnswerStore
    /// Identity of the model, `RunFingerprint.model`.
    let model: [UInt8]

    /// Nothing is taken or added: all is computed, and compared with what is known.
    let verifies: Bool

    package init(_ store: AnswerStore, model: [UInt8], verifies: Bool = false) {
        (self.store, self.model, self.verifies) = (store, model, verifies)
    }

    /// A request's outcome, if it is known, as the loop would hand it over.
    func answer(
        to request: Request, _ key: RequestKey, for run: JobRun
    ) throws -> (TokenSequence, provenance: [String: String])? {
        guard let record = store.find(key) else { return nil }
        let size = try run.models.loaded().engine.limits.vocabularySize
        guard
            let decoding = request.kind.decoding(record.outcome, after: request.prompt, vocabularySize: size),
            decoding.isDone, decoding.fault == nil
        else {
            store.isUnfit(key)
            return nil
        }
        return (TokenSequence(request, taken: decoding, by: run), record.provenance)
    }
}
