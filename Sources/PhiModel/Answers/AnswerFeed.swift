import OperatingSystem

/// One answer on its way from the loop's thread to its reader.
///
/// The loop never waits here. Unread parts are joined, so that a slow reader costs no more memory than the answer
/// itself.
final class AnswerFeed: Sendable {
    private struct FeedState {
        /// Joined if they are of one kind.
        var unread: [AnswerPart] = []
        var end: Result<Answer, any Error>?
        var isOver = false
        var wasCancelled = false
    }

    /// Whether the reader wants parts, or only the whole.
    private let keepsParts: Bool
    private let state = AsyncValue(FeedState())

    init(keepsParts: Bool) { self.keepsParts = keepsParts }

    // MARK: The loop's side

    var isCancelled: Bool { state.withState { $0.wasCancelled } }

    func append(_ text: String) { append(.text(text)) }

    func append(reasoning: String) { append(.reasoning(reasoning)) }

    private func append(_ part: AnswerPart) {
        guard keepsParts else { return }
        state.change { state in
            switch (state.unread.last, part) {
            case (.text(let text)?, .text(let more)):
                state.unread[state.unread.count - 1] = .text(text + more)
            case (.reasoning(let text)?, .reasoning(let more)):
                state.unread[state.unread.count - 1] = .reasoning(text + more)
            default: state.unread.append(part)
            }
        }
    }

    /// The first result counts.
    func finish(_ result: Result<Answer, any Error>) {
        state.change { $0.end = $0.end ?? result }
    }

    // MARK: The reader's side

    /// The loop drops the request before the next step.
    func cancel() {
        state.change { $0.wasCancelled = true }
    }

    /// - Returns: nil after the end.
    /// - Throws: the error that ended the answer; `CancellationError` if it was cancelled, so that nobody mistakes
    ///   half an answer for a whole one.
    func next() async throws -> AnswerPart? {
        try await withTaskCancellationHandler {
            try await state.next(Self.take)
        } onCancel: {
            cancel()
        }
    }

    /// Returns the whole answer without its parts.
    func whole() async throws -> Answer {
        while let part = try await next() {
            if case .end(let answer) = part { return answer }
        }
        throw CancellationError()
    }

    /// Nil is the end.
    private static func take(_ state: inout FeedState) throws -> Taken<AnswerPart?> {
        if state.isOver { return .taken(nil) }
        if state.wasCancelled {
            state.isOver = true
            throw CancellationError()
        }
        if !state.unread.isEmpty { return .taken(state.unread.removeFirst()) }
        guard let end = state.end else { return .notYet }
        state.isOver = true
        return .taken(.end(try end.get()))
    }
}
