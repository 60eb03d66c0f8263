import BatchPipeline
import FoundationShim
import Jobs
import OperatingSystem
import PhiModel

/// A model that answers OpenAI's clients. All their requests are batched, and each result is the same as in a job with
/// the same line.
package final class ModelServer: Sendable {
    private let requests: RequestLines
    private let service: APIService
    private let http: HTTPServer
    /// Set to end the server.
    private let stopFlag: StopFlag
    /// Set when everything has stopped.
    private let endFlag = StopFlag()
    package let port: Int

    /// Loads the model; answers requests that need no model at once.
    /// - Parameters:
    ///   - base: defaults of requests (`JobSettings.serve`).
    ///   - stopFlag: once set, requests are refused, batches saved, and open requests have a time to finish.
    ///   - listens: called before the model is loaded; requests then wait.
    ///   - models: by default loads the base's.
    /// - Throws: `UserError`.
    package init(
        _ base: BatchJob, _ options: ServerOptions, stopFlag: StopFlag,
        listens: (_ address: String) -> Void = { _ in }, models: ModelLoader? = nil
    ) throws {
        _ = try HTTPLibrary.load()
        let listening = try Sockets.listening(
            options.host, port: options.port, onlyLoopback: options.keys.isEmpty)
        listens(listening.address)
        (self.stopFlag, port) = (stopFlag, listening.port)
        requests = try RequestLines(base, models: models, stopFlag: endFlag)
        let batches = try BatchStore(folder: options.folder, requests, stopFlag: stopFlag)
        service = APIService(requests, batches, options)
        http = try HTTPServer(service, on: listening.descriptor)
    }

    /// Answers until the flag is set that the server was created with.
    /// - Throws: an error of the engine.
    package func run() throws {
        try service.start()
        defer { http.stop(atMost: 1) }
        try WorkerThread.startOrExplain("end") { [self] in
            while !stopFlag.isSet, !endFlag.isSet { WorkerThread.sleep(seconds: 0.05) }
            http.refuse()
            let end = ContinuousClock.now + .seconds(service.options.grace)
            while service.metrics.withLock(\.open) > 0, .now < end { WorkerThread.sleep(seconds: 0.05) }
            endFlag.set()
        }
        try requests.run()
    }
}
