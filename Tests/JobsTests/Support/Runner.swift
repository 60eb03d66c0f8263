import BatchEngine

@testable import Jobs

/// Drives a job from its lines to their results, on the thread that calls `run`.
struct Runner {
    let job: JobRun
    let models: ModelLoader
}

extension Runner {
    /// With a model that is there already.
    /// - Throws: `UserError` if a template of the job is malformed, or the job asks for what the model lacks.
    init(
        job: JobSettings, model: LoadedModel, store: any ResultStore, stopFlag: StopFlag = StopFlag(),
        answers: StoredAnswers? = nil, readsAhead: Bool = true,
        progress: @escaping (RunStatistics) -> Void = { _ in }
    ) throws {
        models = ModelLoader { model }
        _ = try models.loaded(for: job)
        self.job = try JobRun(
            job: job, models: models, store: store, stopFlag: stopFlag, answers: answers,
            readsAhead: readsAhead, progress: progress)
    }

    /// - Parameters:
    ///   - stopFlag: once set, the run saves what is under way and ends, resumable.
    ///   - progress: called from time to time, on the thread that runs.
    ///   - loadModel: called once, on another thread, when a line first needs the model; never if all
    ///     lines are done. What it throws ends the run.
    /// - Throws: `UserError` if a template of the job is malformed.
    init(
        job: JobSettings, store: any ResultStore, stopFlag: StopFlag = StopFlag(),
        progress: @escaping (RunStatistics) -> Void = { _ in },
        loadModel: @escaping @Sendable () throws -> LoadedModel
    ) throws {
        models = ModelLoader(load: loadModel)
        self.job = try JobRun(job: job, models: models, store: store, stopFlag: stopFlag, progress: progress)
    }

    /// Runs the job to its end, or until the stop flag is set. To be called once.
    /// - Throws: what the input, the model or the store can't recover from; the job is resumable then.
    func run() throws -> RunOutcome {
        JobRun.run([job], on: models)
        guard let result = job.result else { preconditionFailure("a loop ends when its jobs have ended") }
        return try result.get()
    }
}
