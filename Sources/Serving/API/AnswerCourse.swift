import Faults
import JSON
import Jobs
import OperatingSystem
import PhiModel

/// One request of a client's, from the loop to its answer.
final class AnswerCourse: Sendable {
    private struct State {
        var isStreaming = false
        /// What was told of each choice.
        var told: [Int: (bytes: Int, thought: Bool)] = [:]
    }

    private let exchange: Exchange
    private let reply: OpenAIReply
    private let streams: Bool
    private let tellsUsage: Bool
    private let metrics: ServerMetrics
    private let began = ContinuousClock.now
    private let state = Guarded(State())

    /// - Parameters:
    ///   - streams: text is told as it comes.
    ///   - tellsUsage: of a stream, at its end.
    init(
        _ exchange: Exchange, _ reply: OpenAIReply, streams: Bool, tellsUsage: Bool, _ metrics: ServerMetrics
    ) {
        (self.exchange, self.reply, self.metrics) = (exchange, reply, metrics)
        (self.streams, self.tellsUsage) = (streams, tellsUsage)
    }

    /// - Returns: whether that was all.
    func take(_ event: PipedLines.Event) -> Bool {
        switch event {
        case .text(let text, let choice, _): tell(text, of: choice)
        case .thought(let text, let choice): tell(text, of: choice, isThought: true)
        case .answers(let results, let run): return end(results, run)
        case .failure(let error): return fail(Self.error(of: error))
        case .stopped: return fail(.busy(503, "The server was asked to stop before the request was done."))
        case .cancelled:
            metrics.cancelled()
            return true
        // Only lines that are none of OpenAI's come to this.
        case .result: return fail(APIError("The result has another form.", status: 500))
        }
        return false
    }

    private static func error(of error: any Error) -> APIError {
        let isTheirs = error is JobError
        return APIError("\(error)", status: isTheirs ? 400 : 500, code: isTheirs ? "bad_settings" : "failed")
    }

    private func tell(_ text: String, of choice: Int, isThought: Bool = false) {
        guard streams else { return }
        let isFirst = state.withLock { state in
            if !state.isStreaming {
                state.isStreaming = true
                beginStream()
                metrics.tookFirst(seconds)
            }
            let told = state.told[choice]
            state.told[choice] = (
                (told?.bytes ?? 0) + (isThought ? 0 : text.utf8.count), told?.thought ?? false || isThought
            )
            return told == nil
        }
        exchange.send(reply.more(text, of: choice, isThought: isThought, isFirst: isFirst))
    }

    private func beginStream() {
        exchange.answer(
            HTTPReply(
                type: "text/event-stream; charset=utf-8",
                headers: headers + [("Cache-Control", "no-cache"), ("X-Accel-Buffering", "no")], .stream))
    }

    private var headers: [(name: String, value: String)] { [("X-Request-Id", "req_\(reply.id)")] }

    private func end(_ results: [GenerationResult], _ run: String) -> Bool {
        let made = results.compactMap { $0.made?.completion }
        metrics.made(
            promptTokens: made.first?.promptTokens ?? 0,
            completionTokens: made.reduce(0) { $0 + $1.completionTokens })
        let (isStreaming, told) = state.withLock { ($0.isStreaming, $0.told) }
        guard streams, made.count == results.count else {
            let (status, body) = reply.whole(results, run: run)
            return end(HTTPReply(status, headers: headers, .bytes(body)), isStreaming: isStreaming)
        }
        if !isStreaming { beginStream() }
        for (choice, result) in results.enumerated() {
            guard let result = result.made else { continue }
            let told = told[choice]
            exchange.send(
                reply.end(
                    result, of: choice, told: told?.bytes ?? 0, toldThought: told?.thought ?? false,
                    isFirst: told == nil))
        }
        if tellsUsage { exchange.send(reply.usage(made)) }
        exchange.send(OpenAIReply.done)
        exchange.end()
        note(200)
        return true
    }

    private func fail(_ error: APIError) -> Bool {
        end(error.reply, isStreaming: state.withLock(\.isStreaming))
    }

    /// A stream that has begun can only say so.
    private func end(_ reply: HTTPReply, isStreaming: Bool) -> Bool {
        if isStreaming {
            if case .bytes(let bytes) = reply.content { exchange.send(OpenAIReply.event(of: bytes)) }
            exchange.end()
        } else {
            exchange.answer(reply)
        }
        note(reply.status)
        return true
    }

    private var seconds: Double { (ContinuousClock.now - began).seconds }

    private func note(_ status: Int) {
        metrics.answered(exchange.head.path, status: status)
        metrics.tookWhole(seconds)
    }
}

/// The requests that are under way, by their numbers.
final class AnswerCourses: Sendable {
    private struct State {
        var next = 0
        var open: [Int: AnswerCourse] = [:]
    }

    private let state = Guarded(State())

    var count: Int { state.withLock(\.open.count) }

    /// - Returns: its number.
    func add(_ course: AnswerCourse) -> Int {
        state.withLock { state in
            state.next += 1
            state.open[state.next] = course
            return state.next
        }
    }

    func take(_ event: PipedLines.Event, of number: Int) {
        guard let course = state.withLock({ $0.open[number] }), course.take(event) else { return }
        state.withLock { $0.open[number] = nil }
    }
}
