import BatchEngine

@testable import Jobs

/// Drives jobs from their lines to their results, on the thread that calls `run`: each is a `JobRun` in one
/// `BatchLoop`, so that their lines share the steps.
final class Runner {
    private let jobs: [JobRun]
    private let models: ModelLoader

    /// With a model that is there already.
    /// - Throws: `UserError` if a template of the job is malformed, or the job asks for what the model lacks.
    convenience init(
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
    convenience init(
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
    init(_ jobs: [JobRun], models: ModelLoader) {
        (self.jobs, self.models) = (jobs, models)
    }

    /// Runs the job to its end, or until the stop flag is set. To be called once.
    /// - Throws: what the input, the model or the store can't recover from; the job is resumable then.
    func run() throws -> RunOutcome { try runAll()[0].get() }

    /// Runs all jobs to their ends.
    func runAll() -> [Result<RunOutcome, any Error>] {
        JobRun.run(jobs, on: models)
        return jobs.map { job in
            guard let result = job.result else { preconditionFailure("a loop ends when its jobs have ended") }
            return result
        }
    }
}
