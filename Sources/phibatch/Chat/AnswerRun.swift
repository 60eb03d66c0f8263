import OperatingSystem
import PhiModel

/// Makes the answer to a conversation, part by part.
typealias AnswerMaker = @Sendable ([ChatMessage]) -> any AsyncSequence<AnswerPart, any Error> & Sendable

/// One answer while it is generated. The parts are shown on the caller's thread.
final class AnswerRun: Sendable {
    enum Ending {
        case whole(Answer)
        /// The text so far, and the seconds since its first part.
        case interrupted(String, seconds: Double)
        case failed(any Error)
    }

    private struct State {
        var unread: [AnswerPart] = []
        var ending: Result<Answer, any Error>?
    }

    private let state = Watched(State())
    private let events: ChatEvents

    init(events: ChatEvents) { self.events = events }

    /// - Throws: what `show` throws.
    func run(_ parts: any AsyncSequence<AnswerPart, any Error> & Sendable, show: (AnswerPart) throws -> Void)
        throws
        -> Ending
    {
        // An interrupt from before is not meant for this answer.
        events.drop()
        let task = Task { await self.read(parts) }
        defer { task.cancel() }
        var text = ""
        var first: ContinuousClock.Instant?
        while true {
            let heard = events.wait().events
            let (new, ending) = state.withState { state in
                defer { state.unread = [] }
                return (state.unread, state.ending)
            }
            for part in new {
                first = first ?? .now
                if case .text(let more) = part { text += more }
                try show(part)
            }
            switch ending {
            case .success(let answer)?: return .whole(answer)
            case .failure(let error)?: return .failed(error)
            case nil:
                if heard.contains(.interrupt) {
                    let seconds = first.map { (ContinuousClock.now - $0).seconds }
                    return .interrupted(text, seconds: seconds ?? 0)
                }
            }
        }
    }

    private func read(_ parts: any AsyncSequence<AnswerPart, any Error> & Sendable) async {
        do {
            for try await part in parts {
                switch part {
                case .text, .reasoning: state.withState { $0.unread.append(part) }
                case .end(let answer): state.withState { $0.ending = .success(answer) }
                }
                events.post(.news)
            }
            // A stream that ends without an end was cancelled.
            state.withState { $0.ending = $0.ending ?? .failure(CancellationError()) }
        } catch {
            state.withState { $0.ending = .failure(error) }
        }
        events.post(.news)
    }
}
