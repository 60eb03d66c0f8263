/// One answer, part by part, as it is generated.
///
/// It is to be iterated once. Generation begins when it is made, and ends at the next step if the task that
/// iterates is cancelled, the iteration ends, or the stream is let go. A cancelled one throws `CancellationError`.
public struct AnswerStream: AsyncSequence, Sendable {
    public typealias Element = AnswerPart

    public struct AsyncIterator: AsyncIteratorProtocol {
        /// Ends the request with the iteration.
        let own: AnswerHold
        /// The stream's: else a stream that only the loop had would end the request as the loop begins.
        let stream: AnswerHold

        /// - Throws: `ModelError`, or `CancellationError`.
        public mutating func next() async throws -> AnswerPart? {
            // Its end would be the request's, and a release may come after its last use, which is before the wait.
            let holds = (own, stream)
            defer { withExtendedLifetime(holds) {} }
            return try await own.feed.next()
        }
    }

    let hold: AnswerHold

    /// The iteration's end is the request's, even if the stream itself stays.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(own: AnswerHold(hold.feed, of: hold.model), stream: hold)
    }
}

/// A reader's hold on a request: once nobody has it any more, nobody waits for the answer.
final class AnswerHold: Sendable {
    let feed: AnswerFeed
    /// The model's threads end with it.
    let model: ModelContainer

    init(_ feed: AnswerFeed, of model: ModelContainer) {
        self.feed = feed
        self.model = model
    }

    deinit { feed.cancel() }

    /// The whole answer; held until it is there.
    func whole() async throws -> Answer {
        defer { withExtendedLifetime(self) {} }
        return try await feed.whole()
    }
}
