import Foundation

/// One answer on its way from the loop's thread to whoever waits for it.
///
/// The loop never waits here: what is not read yet is joined to one text, so that a slow reader costs no more
/// memory than the answer itself.
final class AnswerFeed: @unchecked Sendable {
    // NSLock and not Mutex, which the thread sanitizer on Linux doesn't see.
    private let lock = NSLock()
    /// Whether parts are wanted, or only the whole.
    private let keepsParts: Bool
    private var unread = ""
    private var end: Result<Answer, any Error>?
    private var isOver = false
    private var wasCancelled = false
    private var waiters: [CheckedContinuation<Void, Never>] = []

    init(keepsParts: Bool) { self.keepsParts = keepsParts }

    // MARK: The loop's side

    var isCancelled: Bool { lock.withLock { wasCancelled } }

    func append(_ text: String) {
        guard keepsParts, !text.isEmpty else { return }
        change { unread += text }
    }

    /// The first result counts.
    func finish(_ result: Result<Answer, any Error>) {
        change { end = end ?? result }
    }

    // MARK: The reader's side

    /// The request leaves the loop before the next step.
    func cancel() {
        change { wasCancelled = true }
    }

    /// - Returns: nil after the end.
    /// - Throws: what ended the answer; `CancellationError` if it was cancelled, so that nobody takes half an
    ///   answer for a whole one.
    func next() async throws -> AnswerPart? {
        try await withTaskCancellationHandler {
            while true {
                switch try take() {
                case .part(let part): return part
                case .over: return nil
                case .nothing: await wait()
                }
            }
        } onCancel: {
            cancel()
        }
    }

    /// The whole answer, without its parts.
    func whole() async throws -> Answer {
        while let part = try await next() {
            if case .end(let answer) = part { return answer }
        }
        throw CancellationError()
    }

    private enum News {
        case part(AnswerPart)
        case over
        case nothing
    }

    private func take() throws -> News {
        try lock.withLock {
            if isOver { return .over }
            if wasCancelled {
                isOver = true
                throw CancellationError()
            }
            if !unread.isEmpty {
                defer { unread = "" }
                return .part(.text(unread))
            }
            guard let end else { return .nothing }
            isOver = true
            return .part(.end(try end.get()))
        }
    }

    private func wait() async {
        await withCheckedContinuation { continuation in
            let hasNews = lock.withLock {
                let hasNews = isOver || wasCancelled || !unread.isEmpty || end != nil
                if !hasNews { waiters.append(continuation) }
                return hasNews
            }
            if hasNews { continuation.resume() }
        }
    }

    private func change(_ body: () -> Void) {
        let woken = lock.withLock {
            body()
            defer { waiters = [] }
            return waiters
        }
        for waiter in woken { waiter.resume() }
    }
}
