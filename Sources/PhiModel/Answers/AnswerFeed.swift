import OperatingSystem

/// One answer on its way from the loop's thread to its reader, for whom the loop never waits.
struct AnswerFeed: Sendable {
    typealias Parts = AsyncThrowingStream<AnswerPart, any Error>

    private let parts: Parts.Continuation
    /// Whether the reader wants parts, or only the whole.
    private let keepsParts: Bool
    private let wasCancelled = Mutex(false)

    /// Makes a feed and what its reader reads. When that is released, or the reader's task is cancelled, so is the answer.
    static func make(keepsParts: Bool) -> (feed: AnswerFeed, parts: Parts) {
        let (stream, parts) = Parts.makeStream()
        let feed = AnswerFeed(parts: parts, keepsParts: keepsParts)
        parts.onTermination = { [wasCancelled = feed.wasCancelled] end in
            if case .cancelled = end { wasCancelled.withLock { $0 = true } }
        }
        return (feed, stream)
    }

    /// Whether the loop drops the request before the next step.
    var isCancelled: Bool { wasCancelled.withLock { $0 } }

    func append(_ part: AnswerPart) {
        if keepsParts { parts.yield(part) }
    }

    /// The first result counts.
    func finish(_ result: Result<Answer, any Error>) {
        parts.yield(with: result.map { .end($0) })
        parts.finish()
    }
}
