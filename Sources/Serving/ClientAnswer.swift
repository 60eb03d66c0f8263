import Jobs
import OperatingSystem
import PhiModel

/// One client request, from the loop to its answer.
final class ClientAnswer: Sendable {
    private let exchange: Exchange
    private let reply: OpenAIAnswer
    private let streams: Bool
    private let metrics: Mutex<ServerMetrics>
    private let began = ContinuousClock.now
    private let events: Mutex<AnswerEvents>

    /// - Parameters:
    ///   - streams: whether text is sent as it is generated.
    ///   - tellsUsage: whether a stream ends with the usage.
    init(
        _ exchange: Exchange, _ reply: OpenAIAnswer, streams: Bool, tellsUsage: Bool,
        _ metrics: Mutex<ServerMetrics>
    ) {
        (self.exchange, self.reply, self.metrics) = (exchange, reply, metrics)
        self.streams = streams
        events = Mutex(AnswerEvents(of: reply, tellsUsage: tellsUsage))
    }

    func take(_ event: PipedLines.Event) {
        switch event {
        case .text(let text, let choice, _): tell(text, of: choice)
        case .reasoning(let text, let choice): tell(text, of: choice, isReasoning: true)
        case .results(let records, _, _): end(records.map(\.result), records.first?.run ?? "")
        case .failure(let error): end(.failure(error))
        case .stopped: end(.busy(503, "The server was asked to stop before the request was done."))
        case .cancelled: metrics.withLock { $0.cancelled += 1 }
        }
    }

    private func tell(_ text: String, of choice: Int, isReasoning: Bool = false) {
        guard streams else { return }
        let (isFirst, bytes) = events.withLock {
            (!$0.haveBegun, $0.more(text, of: choice, isReasoning: isReasoning))
        }
        if isFirst {
            beginStream()
            metrics.withLock { $0.first.add(seconds) }
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

    private func end(_ results: [GenerationResult], _ run: String) {
        let made = results.filter { $0.text != nil }
        metrics.withLock { metrics in
            metrics.promptTokens += OpenAIAnswer.promptTokens(of: results)
            metrics.completionTokens += made.reduce(0) { $0 + $1.completionTokens }
        }
        guard streams, made.count == results.count else {
            let (status, body) = reply.whole(results, run: run)
            return end(HTTPReply(status, headers: headers, .bytes(body)))
        }
        let (isFirst, bytes) = events.withLock { (!$0.haveBegun, $0.end(results, run: run)) }
        if isFirst { beginStream() }
        endStream(with: bytes)
        note(200)
    }

    /// Ends the answer. A stream that has begun can only report an error.
    private func end(_ reply: HTTPReply) {
        let event = events.withLock { events -> [UInt8]? in
            guard events.haveBegun, case .bytes(let body) = reply.content else { return nil }
            return events.failure(body)
        }
        if let event { endStream(with: event) } else { exchange.answer(reply) }
        note(reply.status)
    }

    private func endStream(with bytes: [UInt8]) {
        exchange.send(bytes)
        exchange.end()
    }

    private var seconds: Double { (ContinuousClock.now - began).seconds }

    private func note(_ status: Int) {
        metrics.withLock { metrics in
            metrics.answered(exchange.head.path, status: status)
            metrics.whole.add(seconds)
        }
    }
}
