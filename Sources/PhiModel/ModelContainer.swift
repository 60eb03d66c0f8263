import BatchEngine
import Foundation
import Foundations

/// One loaded model for a program that wants to chat with it.
///
/// ```swift
/// let container = try await ModelContainer.load(folder: "models/smollm2-demo")
/// let messages = [ChatMessage(role: "user", content: "What is gravity?")]
/// for try await part in container.generate(messages, parameters: .init(maxTokens: 64)) {
///     switch part {
///     case .text(let text): print(text, terminator: "")
///     case .end(let summary): print("\n\(summary.tokensPerSecond) tokens/s")
///     }
/// }
/// ```
package final class ModelContainer: Sendable {
    /// How one answer is generated.
    package struct Parameters: Sendable {
        package var maxTokens: Int
        package var sampling: SamplingParameters
        package var seed: UInt64

        package init(maxTokens: Int = 256, temperature: Float = 0, topP: Float = 1, seed: UInt64 = 0) {
            self.maxTokens = maxTokens
            sampling = SamplingParameters(temperature: temperature, topP: topP)
            self.seed = seed
        }
    }

    /// What an answer cost.
    package struct Summary: Sendable {
        package var promptTokens: Int
        package var completionTokens: Int
        /// Seconds until the first token.
        package var prefillSeconds: Double
        /// Seconds from the first token to the last.
        package var decodeSeconds: Double
        /// True if the model ended by itself, false if `maxTokens` did.
        package var ended: Bool
        /// Completion tokens a second, without the prefill.
        package var tokensPerSecond: Double {
            decodeSeconds > 0 ? Double(max(0, completionTokens - 1)) / decodeSeconds : 0
        }
    }

    package enum Part: Sendable {
        case text(String)
        /// The last part.
        case end(Summary)
    }

    package let engine: PhiEngine
    /// One answer at a time uses the engine.
    private let turn = NSLock()

    package init(engine: PhiEngine) { self.engine = engine }

    /// Loads a checkpoint folder on a thread of its own.
    /// - Throws: `ModelError`.
    package static func load(folder: String, options: EngineOptions = EngineOptions()) async throws
        -> ModelContainer
    {
        try await withCheckedThrowingContinuation { continuation in
            Self.startThread("load") {
                continuation.resume(
                    with: Result { ModelContainer(engine: try PhiEngine(folder: folder, options: options)) })
            } orFail: {
                continuation.resume(throwing: $0)
            }
        }
    }

    /// Streams the answer to a list of messages. Ending the iteration ends the generation.
    package func generate(_ messages: [ChatMessage], parameters: Parameters = Parameters())
        -> AsyncThrowingStream<Part, any Error>
    {
        AsyncThrowingStream { continuation in
            let stopped = Stopped()
            continuation.onTermination = { _ in stopped.set() }
            // Compute blocks: not for Swift's cooperative pool.
            Self.startThread("answer") { [self] in
                turn.lock()
                defer { turn.unlock() }
                do {
                    let summary = try answer(messages, parameters, stopped) { continuation.yield(.text($0)) }
                    continuation.yield(.end(summary))
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            } orFail: {
                continuation.finish(throwing: $0)
            }
        }
    }

    private static func startThread(
        _ name: String, _ body: @escaping @Sendable () -> Void, orFail fail: (ModelError) -> Void
    ) {
        do throws(WorkerThread.CannotStart) {
            try WorkerThread.start("phibatch \(name)", body)
        } catch {
            fail(ModelError(.resources, "a thread to \(name) on can't be made: \(error.reason)"))
        }
    }

    private func answer(
        _ messages: [ChatMessage], _ parameters: Parameters, _ stopped: Stopped,
        _ emit: @escaping (String) -> Void
    ) throws -> Summary {
        if let problem = parameters.sampling.rules.problem(vocabularySize: engine.limits.vocabularySize) {
            throw ModelError(.badRequest, problem)
        }
        let prompt = try engine.text.tokens(for: .messages(messages))
        let answer = Answer(
            Request(
                prompt: prompt, maxTokens: parameters.maxTokens, sampling: parameters.sampling,
                stream: parameters.seed, endOfSequence: engine.limits.endOfSequence, stops: .none,
                text: engine.text.makeTextStream()), stopped, emit)
        let loop = BatchLoop(engine: engine, workers: 1, prefillChunk: Self.prefillChunk)
        loop.add(answer)
        loop.run()
        return try answer.summary.get()
    }

    /// Rows of a prompt in one step: between two of them an answer can be stopped.
    private static let prefillChunk = 512
}

/// A flag that is set once.
final class Stopped: @unchecked Sendable {
    private let lock = NSLock()
    private var value = false
    var isSet: Bool { lock.withLock { value } }
    func set() { lock.withLock { value = true } }
}
