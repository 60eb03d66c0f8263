/// One answer, part by part, as it is generated.
///
/// It can be iterated once. Generation begins when it is created, and ends at the next step if the iterating task is
/// cancelled, or the stream and its iterator are released. After cancellation it throws `CancellationError`.
public struct AnswerStream: AsyncSequence, Sendable {
    public typealias Element = AnswerPart

    public struct AsyncIterator: AsyncIteratorProtocol {
        var parts: AnswerFeed.Parts.Iterator
        let model: ModelContainer

        /// - Throws: `UserError`; `CancellationError`, so that nobody mistakes half an answer for a whole one.
        public mutating func next() async throws -> AnswerPart? {
            defer { withExtendedLifetime(model) {} }
            let part = try await parts.next()
            if part == nil { try Task.checkCancellation() }
            return part
        }
    }

    let parts: AnswerFeed.Parts
    /// Released, it would end the model's threads.
    let model: ModelContainer

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(parts: parts.makeAsyncIterator(), model: model)
    }

    /// Returns the whole answer without its parts.
    func whole() async throws -> Answer {
        for try await part in self {
            if case .end(let answer) = part { return answer }
        }
        throw CancellationError()
    }
}
