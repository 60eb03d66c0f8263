import FoundationShim

/// Answers to many prompts, generated together, in the prompts' order.
///
/// Prompts are taken as answers are read, a few more than run together, so that neither pile up. Ending the iteration
/// or cancelling its task cancels all running requests.
public struct AnswerList<Prompts: Sequence<Prompt> & Sendable>: AsyncSequence, Sendable {
    public typealias Element = Answer

    public struct AsyncIterator: AsyncIteratorProtocol {
        let model: ModelContainer
        let parameters: AnswerParameters
        var prompts: Prompts.Iterator
        /// Oldest first.
        var open: Deque<AnswerStream> = []

        /// - Throws: `UserError` of the first prompt that can't be served, or `CancellationError`.
        public mutating func next() async throws -> Answer? {
            while open.count < 4 * model.workers, let prompt = prompts.next() {
                open.append(model.ask(prompt, parameters, keepsParts: false))
            }
            return try await open.popFirst()?.whole()
        }
    }

    let model: ModelContainer
    let prompts: Prompts
    let parameters: AnswerParameters

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(model: model, parameters: parameters, prompts: prompts.makeIterator())
    }
}
