import BatchEngine
import Errors

/// One request with a waiting caller, as a source of the loop.
final class AnswerSource: RequestSource {
    let workers = 1
    private var request: Request?
    private let feed: AnswerFeed
    private let promptTokens: Int
    private let reasoning: RequestSettings.ReasoningUse?

    /// - Parameter reasoning: treatment of reasoning; nil if nothing counts as reasoning.
    init(_ request: Request, _ reasoning: RequestSettings.ReasoningUse?, _ feed: AnswerFeed) {
        // A request for no tokens is complete at once.
        self.request = request.kind.maxTokens > 0 ? request : nil
        self.feed = feed
        self.reasoning = reasoning
        promptTokens = request.prompt.count
    }

    var isCancelled: Bool { feed.isCancelled }

    func next(patience: Double) -> SourceAnswer {
        defer { request = nil }
        return request.map { .request($0) } ?? .end
    }

    func received(_ text: ReasoningReader.Piece, of sequence: TokenSequence) {
        if !text.reasoning.isEmpty {
            switch reasoning {
            case .separate: feed.append(.reasoning(text.reasoning))
            case .keep: feed.append(.text(text.reasoning))
            case .drop, nil: break
            }
        }
        if !text.answer.isEmpty { feed.append(.text(text.answer)) }
    }

    func finished(_ sequence: TokenSequence, provenance: [String: String]) {
        feed.finish(.success(Answer(sequence, reasoning)))
    }

    func failed(_ sequence: TokenSequence, _ fault: ChoiceFault) throws {
        let place: Message = "after \(sequence.decoding.progress) tokens of the answer"
        switch fault {
        case .notFinite:
            throw UserError(
                .malformed, "the logits \(place) are not finite: the model's weights are damaged.")
        case .nothingAllowed: throw UserError(.badRequest, "the constraint allows no token \(place).")
        }
    }

    func refused(_ request: Request, _ refusal: UserError, room: Int?) throws { throw refusal }

    /// Without effect if there is an answer: the first result counts.
    func completed() { feed.finish(.success(Answer(promptTokens: promptTokens))) }

    func abandoned(_ live: [TokenSequence], error: (any Error)?) {
        feed.finish(.failure(error ?? CancellationError()))
    }
}
