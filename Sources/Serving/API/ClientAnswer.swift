import Errors
import JSON
import Jobs
import OperatingSystem
import PhiModel

/// One client request, from the loop to its answer.
final class ClientAnswer: Sendable {
    private struct AnswerState {
        var isStreaming = false
        var events: any AnswerEvents
    }

    private let exchange: Exchange
    private let reply: OpenAIAnswer
    private let streams: Bool
    private let metrics: Mutex<ServerMetrics>
    private let began = ContinuousClock.now
    private let state: Mutex<AnswerState>

    /// - Parameters:
    ///   - streams: whether text is sent as it is generated.
    ///   - tellsUsage: whether a stream ends with the usage.
    init(
        _ exchange: Exchange, _ reply: OpenAIAnswer, streams: Bool, tellsUsage: Bool,
        _ metrics: Mutex<ServerMetrics>
    ) {
        (self.exchange, self.reply, self.metrics) = (exchange, reply, metrics)
        self.streams = streams
        state = Mutex(AnswerState(events: reply.events(tellsUsage: tellsUsage)))
    }

    /// - Returns: whether that was the last event.
    func take(_ event: PipedLines.Event) -> Bool {
        switch event {
        case .text(let text, let choice, _): tell(text, of: choice)
        case .reasoning(let text, let choice): tell(text, of: choice, isReasoning: true)
        case .answers(let results, let run): return end(results, run)
        case .failure(let error): return fail(Self.error(of: error))
        case .stopped: return fail(.busy(503, "The server was asked to stop before the request was done."))
        case .cancelled:
            metrics.withLock { $0.cancelled += 1 }
            return true
        // Only lines in another format than OpenAI's cause this.
        case .result: return fail(APIError("The result has another form.", status: 500))
        }
        return false
    }

    private static func error(of error: any Error) -> APIError {
        let isTheirs = (error as? UserError)?.isOfSettings ?? false
        return APIError("\(error)", status: isTheirs ? 400 : 500, code: isTheirs ? "bad_settings" : "failed")
    }

    private func tell(_ text: String, of choice: Int, isReasoning: Bool = false) {
        guard streams else { return }
        let bytes = state.withLock { state in
            if !state.isStreaming {
                state.isStreaming = true
                beginStream()
                metrics.withLock { $0.first.add(seconds) }
            }
            return state.events.more(text, of: choice, isReasoning: isReasoning)
        }
        exchange.send(bytes)
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
        metrics.withLock { metrics in
            metrics.promptTokens += OpenAIAnswer.promptTokens(of: results)
            metrics.completionTokens += made.reduce(0) { $0 + $1.completionTokens }
        }
        let isStreaming = state.withLock(\.isStreaming)
        guard streams, made.count == results.count else {
            let (status, body) = reply.whole(results, run: run)
            return end(HTTPReply(status, headers: headers, .bytes(body)))
        }
        if !isStreaming { beginStream() }
        exchange.send(state.withLock { $0.events.end(results, run: run) })
        exchange.end()
        note(200)
        return true
    }

    private func fail(_ error: APIError) -> Bool { end(error.reply) }

    /// Ends the answer. A stream that has begun can only report an error.
    private func end(_ reply: HTTPReply) -> Bool {
        let event = state.withLock { state -> [UInt8]? in
            guard state.isStreaming, case .bytes(let bytes) = reply.content else { return nil }
            return state.events.failure((try? JSONValue(parsing: bytes, limits: .line)) ?? .null)
        }
        if let event {
            exchange.send(event)
            exchange.end()
        } else {
            exchange.answer(reply)
        }
        note(reply.status)
        return true
    }

    private var seconds: Double { (ContinuousClock.now - began).seconds }

    private func note(_ status: Int) {
        metrics.withLock { metrics in
            metrics.answered(exchange.head.path, status: status)
            metrics.whole.add(seconds)
        }
    }
}

/// Running requests by number.
final class ClientAnswers: Sendable {
    private struct AnswerState {
        var next = 0
        var open: [Int: ClientAnswer] = [:]
    }

    private let state = Mutex(AnswerState())

    var count: Int { state.withLock(\.open.count) }

    /// - Returns: its number.
    func add(_ answer: ClientAnswer) -> Int {
        state.withLock { state in
            state.next += 1
            state.open[state.next] = answer
            return state.next
        }
    }

    func take(_ event: PipedLines.Event, of number: Int) {
        guard let answer = state.withLock({ $0.open[number] }), answer.take(event) else { return }
        state.withLock { $0.open[number] = nil }
    }
}
