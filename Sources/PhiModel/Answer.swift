import BatchEngine
import Foundations

/// The one answer that somebody waits for, as a loop's source.
final class Answer: RequestSource {
    let workers = 1
    private var request: Request?
    private let stopped: Stopped
    private let emit: (String) -> Void
    private(set) var summary: Result<ModelContainer.Summary, any Error>

    init(_ request: Request, _ stopped: Stopped, _ emit: @escaping (String) -> Void) {
        // Nothing is asked for, and so it is whole.
        self.request = request.maxTokens > 0 ? request : nil
        self.stopped = stopped
        self.emit = emit
        summary = .success(
            ModelContainer.Summary(
                promptTokens: request.prompt.count, completionTokens: 0, prefillSeconds: 0, decodeSeconds: 0,
                ended: false))
    }

    var isCancelled: Bool { stopped.isSet }

    func next(patience: Double) -> SourceAnswer {
        defer { request = nil }
        return request.map { .request($0) } ?? .end
    }

    func received(_ text: String, of id: RequestID) { emit(text) }

    func finished(_ sequence: TokenSequence, provenance: [String: String]) { sum(sequence) }

    func failed(_ sequence: TokenSequence, _ fault: ChoiceFault) throws {
        throw ModelError(
            .malformed,
            "the logits after \(sequence.tokens.count) tokens of the answer are not finite: the model's weights are "
                + "damaged.")
    }

    func refused(_ request: Request, _ refusal: Refusal) throws {
        throw ModelError(refusal.kind == .tooLarge ? .resources : .badRequest, refusal.message)
    }

    func completed() {}

    func abandoned(_ live: [TokenSequence], error: (any Error)?) {
        if let error {
            summary = .failure(error)
        } else if let sequence = live.first {
            sum(sequence)
        }
    }

    private func sum(_ sequence: TokenSequence) {
        let end = ContinuousClock.now
        let begin = sequence.admittedAt ?? end
        let first = sequence.firstTokenAt ?? end
        summary = .success(
            ModelContainer.Summary(
                promptTokens: sequence.request.prompt.count, completionTokens: sequence.tokens.count,
                prefillSeconds: (first - begin).seconds, decodeSeconds: (end - first).seconds,
                ended: sequence.finishReason == .stop))
    }
}
