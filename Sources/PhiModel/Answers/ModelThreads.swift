import BatchEngine
import OperatingSystem

/// Threads of a loaded model: one tokenizes prompts, one runs the loop that all requests share. Both start with the
/// first request, sleep while there is none, and end after `close`.
///
/// Neither is of Swift's cooperative pool, which long computations would block.
final class ModelThreads: Sendable {
    private typealias Asked = (prompt: Prompt, parameters: AnswerParameters, feed: AnswerFeed)

    private let engine: any Engine
    private let text: any TextCoding
    private let workers: Int
    private let asked = Queue<Asked>()
    private let sources = Queue<any RequestSource>()
    private let haveStarted = Mutex(false)

    /// Rows of a prompt in one step; an answer can be cancelled between steps.
    private static let prefillChunk = 512

    /// - Parameter workers: the most requests that run together.
    init(engine: any Engine, text: any TextCoding, workers: Int) {
        (self.engine, self.text, self.workers) = (engine, text, workers)
    }

    func ask(_ prompt: Prompt, _ parameters: AnswerParameters, _ feed: AnswerFeed) {
        do {
            try start()
            asked.put((prompt, parameters, feed))
        } catch {
            feed.finish(.failure(error))
        }
    }

    /// Adds a source of requests to the loop.
    /// - Throws: `UserError` of kind `resources` if no thread can be created.
    func join(_ source: sending any RequestSource) throws {
        try start()
        sources.put(source)
    }

    /// Requests in the loop still finish.
    func close() {
        asked.close()
        if !haveStarted.withLock({ $0 }) { sources.close() }
    }

    private func start() throws {
        try haveStarted.withLock { haveStarted in
            guard !haveStarted else { return }
            try WorkerThread.startOrExplain("phibatch loop") { [self] in runLoop() }
            do {
                try WorkerThread.startOrExplain("phibatch text") { [self] in readPrompts() }
            } catch {
                sources.close()
                throw error
            }
            haveStarted = true
        }
    }

    // MARK: The text thread

    private func readPrompts() {
        while let some = asked.wait(1) {
            for item in some where !item.feed.isCancelled {
                do {
                    let reasoning = item.parameters.reasoningUse(isUsual: text.reasonings?.isUsual ?? false)
                    sources.put(AnswerSource(try request(item, reasoning), reasoning, item.feed))
                } catch {
                    item.feed.finish(.failure(error))
                }
            }
        }
        sources.close()
    }

    private func request(_ item: Asked, _ reasoning: RequestSettings.ReasoningUse?) throws -> Request {
        let (limits, parameters) = (engine.limits, item.parameters)
        if let problem = parameters.answerProblem(vocabularySize: limits.vocabularySize) {
            throw UserError(.badRequest, problem)
        }
        let stops = StopSet(parameters.stop ?? [])
        if !stops.isEmpty, !text.hasTokenizer {
            throw UserError(.badRequest, "stop strings need a tokenizer, and the model folder has none.")
        }
        let prompt = try text.tokens(for: item.prompt, contextLength: limits.contextLength)
        guard prompt.count < limits.contextLength else {
            throw UserError(
                .promptTooLong,
                "The prompt has \(prompt.count) tokens, but the model's context holds \(limits.contextLength), "
                    + "completion included.")
        }
        let maxTokens = min(
            parameters.maxTokens ?? RequestSettings.defaultMaxTokens, limits.contextLength - prompt.count)
        let reasoning =
            reasoning == nil
            ? nil
            : text.reasonings?.reasoning(
                after: item.prompt, prompt, parameters, maxTokens: maxTokens, of: limits)
        return Request(
            prompt: prompt,
            kind: Sampling(
                maxTokens: maxTokens, sampling: SamplingParameters(parameters),
                reasoning: reasoning?.leavingRoom(of: maxTokens),
                stream: UInt64(bitPattern: Int64(parameters.seed ?? 0)),
                endOfSequence: parameters.ignoreEndOfSequence == true ? [] : limits.endOfSequence,
                stops: stops, text: text.makeTextStream()))
    }

    // MARK: The loop's thread

    private func runLoop() {
        let loop = BatchLoop(engine: engine, workers: workers, prefillChunk: Self.prefillChunk)
        // The loop looks at all its sources in each step, so those beyond a limit wait outside.
        while let some = sources.wait(2 * workers) {
            for source in some { loop.add(source) }
            loop.run { [sources, workers] in sources.take(2 * workers - loop.sourceCount) }
        }
    }
}
