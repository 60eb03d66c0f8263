import BatchPipeline
import FoundationShim
import Jobs
import OperatingSystem
import PhiModel

/// A model that answers OpenAI's clients. All their requests share its steps, and each result is the one that a job
/// with the same line would have.
package final class ModelServer: Sendable {
    private let requests: RequestLines
    private let service: APIService
    private let http: HTTPServer
    private let answers: ClientAnswers
    private let failure: Guarded<(any Error)?>
    /// Somebody wants it to end.
    private let stopFlag: StopFlag
    /// Nothing goes on any more.
    private let endFlag = StopFlag()
    private let grace: Double

    /// Address that it listens on.
    package var address: String { http.address }
    package var port: Int { http.port }

    /// Loads the model, and answers from now on what needs no model.
    /// - Parameters:
    ///   - base: what requests start from (`JobSettings.serve`).
    ///   - stopFlag: once set, nothing more is taken, batches are saved, and open requests have a time to be done.
    ///   - listens: called before the model is loaded: who comes meanwhile waits.
    ///   - model: what loads the model, and its engine's identity; those of the base, if nil.
    /// - Throws: `HTTPFault`, `JobError`, `ModelError`.
    package init(
        _ base: BatchJob, _ options: ServerOptions, stopFlag: StopFlag,
        listens: (_ address: String) -> Void = { _ in },
        model: (() throws -> (ModelLoader, [(name: String, value: String)]))? = nil
    ) throws {
        let access = Access(keys: options.keys)
        let listening = try HTTPServer.listen(
            options.host, port: options.port, onlyLoopback: !access.needsKey)
        listens(listening.address)
        let failure = Guarded<(any Error)?>(nil)
        answers = ClientAnswers()
        (self.stopFlag, grace) = (stopFlag, options.grace)
        let (models, engine) = try model?() ?? (base.makeModelLoader(), RequestLines.engine(of: base))
        requests = try RequestLines(
            base, models: models, engine: engine, stopFlag: endFlag,
            tell: { [answers] in answers.take($1, of: $0) },
            failed: { [endFlag] error in
                failure.withLock { $0 = $0 ?? error }
                endFlag.set()
            })
        let batches = try BatchStore(folder: options.folder, requests, stopFlag: stopFlag)
        service = APIService(requests, answers, batches, access, options)
        http = try HTTPServer(service, on: listening, limits: options.limits)
        self.failure = failure
    }

    /// Answers until the flag is set that the server was made with.
    /// - Throws: what the engine can't recover from.
    package func run() throws {
        try service.start(connections: { [http] in http.connections })
        defer { http.stop(atMost: 1) }
        try WorkerThread.startOrExplain("end") { [self] in
            while !stopFlag.isSet, !endFlag.isSet { WorkerThread.sleep(seconds: 0.05) }
            http.refuse()
            let end = ContinuousClock.now + .seconds(grace)
            while answers.count > 0, .now < end { WorkerThread.sleep(seconds: 0.05) }
            endFlag.set()
        }
        try requests.run()
        if let failure = failure.withLock({ $0 }) { throw failure }
    }
}
