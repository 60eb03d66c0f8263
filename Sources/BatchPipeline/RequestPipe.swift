import JSON
import Jobs
import OperatingSystem

/// Answers requests in JSON lines, each with a line as in a job's input and settings of a job. All share one model and
/// its steps, and each result is the same as in such a job. Its own messages are a JSON object a line, too:
///
///     {"phibatch":"1.0","protocol":1,"model":"…","context_length":4096,"vocabulary_size":…,"tokenizer":true}
///     {"request":7,"text":"…"[,"sample":1][,"attempt":1]}
///     {"request":7,"left":0,"result":{…}}
///     {"request":7,"error":{"code":"…","message":"…"}}
///     {"request":7,"cancelled":true}
package final class RequestPipe: Sendable {
    /// The version of the protocol between callers and the pipe.
    private static let version = 1
    private static let members: Set = ["request", "cancel", "index", "stream", "line", "settings"]

    private let requests: RequestLines
    /// Nil once it has failed. Held while a message is written.
    private let write: Mutex<(@Sendable ([UInt8]) throws -> Void)?>

    /// - Parameters:
    ///   - base: defaults of requests; its model is loaded now.
    ///   - models: by default loads the base's.
    ///   - stopFlag: once set, unfinished requests are answered with that, and the pipe ends.
    ///   - write: receives a message, without its line feed.
    /// - Throws: `UserError` if the model can't be found.
    package init(
        _ base: BatchJob, models: ModelLoader? = nil, stopFlag: StopFlag,
        write: @escaping @Sendable ([UInt8]) throws -> Void
    ) throws {
        self.write = Mutex(write)
        requests = try RequestLines(base, models: models, stopFlag: stopFlag)
    }

    // MARK: The loop's thread

    /// Writes a description of the model, and answers until `close` is called and all is done, or until stopped.
    /// - Throws: an error of the engine, or of `write`.
    package func run() throws {
        let (model, settings) = (requests.model, requests.base.settings)
        let limits = model.engine.limits
        say { writer in
            writer.string("phibatch", ProgramVersion.current)
            writer.int("protocol", Self.version)
            writer.string("model", settings.modelName ?? settings.model)
            writer.int("context_length", limits.contextLength)
            writer.int("vocabulary_size", limits.vocabularySize)
            writer.bool("tokenizer", model.text.hasTokenizer)
        }
        try requests.run()
    }

    // MARK: The reader's thread

    /// Takes messages from stdin to its end.
    package func readStandardInput() {
        do {
            let bytes = try ByteSource(path: "-")
            // A message has a line and settings.
            let limit = InputReader.defaultLimit + WrittenSetting.fileSizeLimit
            while let line = try bytes.nextLine(limit: limit) {
                guard !line.isTooLong else {
                    refuse(nil, "The message is longer than \(limit) bytes.")
                    continue
                }
                if line.bytes.contains(where: { $0 > 0x20 }) { take(line.bytes) }
            }
        } catch {
            requests.fail(error)
        }
        close()
    }

    /// Takes one message: a request, or a cancellation.
    /// - Parameter bytes: a JSON object.
    package func take(_ bytes: [UInt8]) {
        let message: JSONValue
        do throws(JSONFault) { message = try JSONValue(parsing: bytes, limits: .ownLine) } catch {
            return refuse(nil, "The message is no JSON of a request: \(error).")
        }
        do throws(LineError) { try take(message) } catch {
            refuse(message.int("request"), error.message)
        }
    }

    private func take(_ message: JSONValue) throws(LineError) {
        if case .object(let members) = message,
            let other = members.first(where: { !Self.members.contains($0.name) })
        {
            throw LineError(
                .badField,
                "A message has no member `\(other.name.prefix(64))`; it has request, line, settings, index and stream, or cancel."
            )
        }
        let (line, settings) = (try message.object("line"), try message.object("settings"))
        let streams = try message.flag("stream") ?? false
        let index = message["index"].map { $0.integer ?? -1 } ?? 0
        guard index >= 0 else {
            throw LineError(.badField, "`index` must be a number, counted from 0.")
        }
        if let cancelled = message.int("cancel") { return requests.cancel(cancelled) }
        guard let request = message.int("request"), let line else {
            throw LineError(.badField, "A message has `request` and `line`, or `cancel`.")
        }
        guard !requests.holds(request) else {
            return refuse(nil, "The request \(request) is already running.")
        }
        func bytes(_ members: JSONObject) -> [UInt8] { Array(JSONWriter.text(of: .object(members)).utf8) }
        requests.put(
            PipedLines.Line(request: request, index: index, bytes: bytes(line), streams: streams) {
                [weak self] in self?.tell(request, $0)
            }, settings.map(bytes) ?? [])
    }

    /// Declares that no more messages will come.
    package func close() { requests.close() }

    // MARK: Messages to the caller

    private func tell(_ request: Int, _ event: PipedLines.Event) {
        say { writer in
            writer.int("request", request)
            switch event {
            case .text(let text, let sample, let attempt):
                writer.string("text", text)
                if sample > 0 { writer.int("sample", sample) }
                if attempt > 0 { writer.int("attempt", attempt) }
            case .results(let records, let left, let samples):
                var (encoder, bytes) = (ResultEncoder(ResultFormat.jsonl, samples: samples), [UInt8]())
                for record in records { encoder.append(record, to: &bytes) }
                writer.int("left", left)
                writer.raw("result", String(decoding: bytes.dropLast(), as: UTF8.self))
            // Only OpenAI's requests have it, and a pipe has none.
            case .reasoning: break
            case .failure(let error): Self.write(Self.code(of: error), "\(error)", &writer)
            case .stopped:
                Self.write("stopped", "phibatch was asked to stop before the request was done.", &writer)
            case .cancelled:
                writer.bool("cancelled", true)
            }
        }
    }

    /// Answers an invalid message.
    private func refuse(_ request: Int?, _ problem: String) {
        say { writer in
            if let request { writer.int("request", request) }
            Self.write("bad_message", problem, &writer)
        }
    }

    private static func write(_ code: String, _ message: String, _ writer: inout JSONWriter) {
        writer.object("error") { writer in
            writer.string("code", code)
            writer.string("message", message)
        }
    }

    private static func code(of error: any Error) -> String {
        guard let error = error as? UserError else { return "failed" }
        switch error.kind {
        case _ where error.isOfSettings: return "bad_settings"
        case .missing, .malformed, .unsupported, .badRequest, .promptTooLong, .resources:
            return "model_failed"
        default: return "failed"
        }
    }

    private func say(_ members: (inout JSONWriter) -> Void) {
        var writer = JSONWriter()
        writer.object(members)
        let bytes = writer.bytes
        do { try write.withLock { try $0?(bytes) } } catch {
            write.withLock { $0 = nil }
            requests.fail(error)
        }
    }
}

extension JobSettings {
    /// Returns the defaults of a pipe's requests.
    /// - Throws: `UserError` of kind `usage`, naming the option and the right form.
    package static func pipe(model: String, name: String, options: [WrittenSetting]) throws -> JobSettings {
        var settings = JobSettings()
        try settings.apply(options)
        (settings.model, settings.modelName) = (model, name)
        (settings.input, settings.output) = (["-"], "-")
        settings.inputFormat = InputFormat.jsonl
        settings.outputFormat = ResultFormat.jsonl
        settings.outputFormatFollowsInput = false
        return settings
    }
}
