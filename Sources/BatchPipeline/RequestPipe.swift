import FoundationShim
import JSON
import Jobs
import OperatingSystem
import PhiModel

/// Answers requests in JSON lines, each with a line as in a job's input and settings of a job. All share one model and
/// its steps, and each result is the same as in such a job.
package final class RequestPipe: Sendable {
    private let output: PipeOutput
    private let requests: RequestLines

    /// - Parameters:
    ///   - base: defaults of requests; its model is loaded now.
    ///   - models, engine: of the base, unless they are known already.
    ///   - stopFlag: once set, unfinished requests are answered with that, and the pipe ends.
    ///   - write: receives a message, without its line feed.
    /// - Throws: `UserError` if the model can't be found.
    package init(
        _ base: BatchJob, models: ModelLoader? = nil, engine: [(name: String, value: String)]? = nil,
        stopFlag: StopFlag, write: @escaping @Sendable ([UInt8]) throws -> Void
    ) throws {
        let output = PipeOutput(stopFlag: stopFlag, write: write)
        self.output = output
        requests = try RequestLines(
            base, models: models ?? base.makeModelLoader(), engine: engine ?? RequestLines.engine(of: base),
            stopFlag: stopFlag, tell: { output.tell($0, $1) }, failed: { output.fail($0) })
    }

    // MARK: The loop's thread

    /// Writes a description of the model, and answers until `close` is called and all is done, or until stopped.
    /// - Throws: an error of the engine, or of `write`.
    package func run() throws {
        let model = try requests.models.loaded()
        output.greet(
            model: requests.modelName, model.engine.limits, hasTokenizer: model.text.hasTokenizer)
        try requests.run()
        try output.end()
    }

    // MARK: The reader's thread

    /// Takes messages from stdin to its end.
    package func readStandardInput() {
        do {
            let bytes = try ByteSource(path: "-")
            // A message has a line and settings.
            let limit = InputReader.defaultLimit + JobFile.sizeLimit
            while let line = try bytes.nextLine(limit: limit)?.text {
                guard !line.isTooLong else {
                    output.refuse(nil, "The message is longer than \(limit) bytes.")
                    continue
                }
                if line.bytes.contains(where: { $0 > 0x20 }) { take(line.bytes) }
            }
        } catch {
            output.fail(error)
        }
        close()
    }

    /// Takes one message.
    package func take(_ message: [UInt8]) {
        switch PipeMessage(message) {
        case .request(let line, _) where requests.holds(line.request):
            output.refuse(nil, "The request \(line.request) is already running.")
        case .request(let line, let settings): requests.put(line, settings)
        case .cancel(let request): requests.cancel(request)
        case .invalid(let request, let problem): output.refuse(request, problem)
        }
    }

    /// Declares that no more messages will come.
    package func close() { requests.close() }
}

extension JobSettings {
    /// Returns the defaults of a pipe's requests.
    /// - Throws: `UserError` of kind `usage`, naming the option and the right form.
    package static func pipe(model: String, name: String, options: [JobOption]) throws -> JobSettings {
        var settings = JobSettings()
        try settings.apply(options)
        (settings.model, settings.modelName) = (model, name)
        (settings.input, settings.output) = (["-"], "-")
        settings.inputFormat = InputFormat.jsonl
        settings.outputFormat = OutputFormat(ResultFormats.standard)
        settings.outputFormatFollowsInput = false
        return settings
    }

    /// Returns the defaults of requests of OpenAI's clients.
    /// - Throws: the errors of `pipe`.
    package static func serve(model: String, name: String, options: [JobOption]) throws -> JobSettings {
        var settings = try pipe(model: model, name: name, options: options)
        settings.inputFormat = InputFormat.openAI
        settings.outputFormat = OutputFormat(OpenAIResults())
        return settings
    }
}
