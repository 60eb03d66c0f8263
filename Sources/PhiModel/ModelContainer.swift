import BatchEngine
import OperatingSystem

/// A loaded model that answers any number of callers at once.
///
/// ```swift
/// let model = try await ModelContainer.load(folder: "models/smollm2-demo")
/// for try await part in model.generate(.user("What is gravity?"), parameters: .init(maxTokens: 64)) {
///     switch part {
///     case .text(let text): print(text, terminator: "")
///     case .reasoning: break
///     case .end(let answer): print("\n\(answer.tokensPerSecond) tokens/s")
///     }
/// }
/// ```
///
/// All requests share one loop on the model's own thread: they join and leave between steps, and each step is one
/// forward pass over the rows of all. An answer is the same, byte for byte, whatever runs beside it.
public final class ModelContainer: Sendable {
    package let engine: any ModelEngine
    /// The engine in use.
    package let kind: EngineKind
    /// Folder that the model was loaded from; nil for an engine that was passed in.
    package let folder: String?
    /// The adapter it was loaded with.
    package let adapter: String?
    /// The most requests that run together; further ones wait.
    public let workers: Int
    private let threads: ModelThreads

    package init(
        engine: any ModelEngine, _ kind: EngineKind = .cpu, folder: String? = nil, adapter: String? = nil,
        workers: Int? = nil
    ) {
        (self.engine, self.kind) = (engine, kind)
        self.folder = folder
        self.adapter = adapter
        let workers = workers ?? Scheduler.automaticWorkers(threads: engine.threads)
        precondition(workers > 0, "a loop needs a worker")
        self.workers = workers
        threads = ModelThreads(engine: engine, text: engine.text, workers: workers)
    }

    deinit { threads.close() }

    /// Loads a model folder (MLX's quantized format) on its own thread. A GGUF file, or a folder that another program
    /// has quantized, is converted once into `EngineOptions.cache`, which must not be off then.
    ///
    /// If the task is cancelled, this returns at once, and the thread discards the model.
    /// - Parameters:
    ///   - folder: with config.json, weights, and usually a tokenizer and a chat template.
    ///   - options: engine, threads, memory, precision and adapter.
    ///   - workers: the most requests that run together; by default as many as make arithmetic the limit, not the
    ///     reading of weights.
    /// - Throws: `UserError` naming the file, tensor or key at fault; `CancellationError`.
    public static func load(
        folder: String, options: EngineOptions = EngineOptions(), workers: Int? = nil
    ) async throws -> ModelContainer {
        if let workers, workers < 1 {
            throw UserError(.badRequest, "workers must be 1 or more, but is \(workers).")
        }
        return try await WorkerThread.result("phibatch load") {
            let folder = try PublishedModel(folder)?.folder(cache: options.cache) ?? folder
            let entry = options.engine.entry
            return ModelContainer(
                engine: try entry.load(folder, options), entry.kind, folder: folder,
                adapter: options.adapter, workers: workers)
        }
    }

    /// Streams the answer to a prompt.
    ///
    /// Errors of a prompt or parameter are thrown when the stream is read.
    public func generate(_ prompt: Prompt, parameters: AnswerParameters = AnswerParameters()) -> AnswerStream
    {
        ask(prompt, parameters, keepsParts: true)
    }

    /// Returns the whole answer to a prompt.
    /// - Throws: `UserError` if the prompt or a parameter can't be served; `CancellationError`.
    public func answer(to prompt: Prompt, parameters: AnswerParameters = AnswerParameters()) async throws
        -> Answer
    {
        try await ask(prompt, parameters, keepsParts: false).whole()
    }

    /// Returns the answers to many prompts, generated together, in the prompts' order.
    ///
    /// A prompt that can't be served ends the iteration with its error. To continue past errors, call
    /// `answer(to:parameters:)` for each prompt in its own task.
    public func answers<Prompts: Sequence<Prompt> & Sendable>(
        to prompts: Prompts, parameters: AnswerParameters = AnswerParameters()
    ) -> AnswerList<Prompts> {
        AnswerList(model: self, prompts: prompts, parameters: parameters)
    }

    func ask(_ prompt: Prompt, _ parameters: AnswerParameters, keepsParts: Bool) -> AnswerStream {
        let (feed, parts) = AnswerFeed.make(keepsParts: keepsParts)
        threads.ask(prompt, parameters, feed)
        return AnswerStream(parts: parts, model: self)
    }

    /// Adds a source of requests, such as a job, to the model's loop. From now on the source is called only on the
    /// loop's thread.
    /// - Throws: `UserError` of kind `resources` if no thread can be created.
    package func join(_ source: sending any RequestSource) throws { try threads.join(source) }
}
