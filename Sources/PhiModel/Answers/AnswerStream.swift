/// One answer, part by part, as it is generated.
///
/// It can be iterated once. Generation begins when it is created, and ends at the next step if the iterating task is
/// cancelled, the iteration ends, or the stream is released. After cancellation it throws `CancellationError`.
public struct AnswerStream: AsyncSequence, Sendable {
    public typealias Element = AnswerPart

    public struct AsyncIterator: AsyncIteratorProtocol {
        /// Ends the request with the iteration.
        let own: AnswerHold
        /// The stream's own: otherwise the request would end when iteration releases the stream.
        let stream: AnswerHold

        /// - Throws: `UserError`, or `CancellationError`.
        public mutating func next() async throws -> AnswerPart? {
            // Keeps both beyond the wait: releasing one ends the request.
            let holds = (own, stream)
            defer { withExtendedLifetime(holds) {} }
            return try await own.feed.next()
        }
    }

    let hold: AnswerHold

    /// The end of the iteration ends the request, even if the stream stays.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(own: AnswerHold(hold.feed, of: hold.model), stream: hold)
    }
}

/// A reader's hold on a request. When the last reference is gone, the request ends.
final class AnswerHold: Sendable {
    let feed: AnswerFeed
    /// Released, it would end the model's threads.
    let model: ModelContainer

    init(_ feed: AnswerFeed, of model: ModelContainer) {
        self.feed = feed
        self.model = model
    }

    deinit { feed.cancel() }

    /// Returns the whole answer, and holds the request until then.
    func whole() async throws -> Answer {
        defer { withExtendedLifetime(self) {} }
        return try await feed.whole()
    }
}
