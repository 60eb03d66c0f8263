import OperatingSystem

/// Metrics of a server in Prometheus' text format.
final class ServerMetrics: Sendable {
    private struct Times {
        var count = 0
        var sum = 0.0

        mutating func add(_ seconds: Double) { (count, sum) = (count + 1, sum + seconds) }
    }

    private struct Counters {
        /// Number of answers by path and status.
        var answers: [String: Int] = [:]
        var promptTokens = 0
        var completionTokens = 0
        var cancelled = 0
        var refused = 0
        var first = Times()
        var whole = Times()
    }

    private let state = Mutex(Counters())

    func answered(_ path: String, status: Int) {
        state.withLock { $0.answers["path=\"\(path)\",status=\"\(status)\"", default: 0] += 1 }
    }

    func made(promptTokens: Int, completionTokens: Int) {
        state.withLock { state in
            state.promptTokens += promptTokens
            state.completionTokens += completionTokens
        }
    }

    func cancelled() { state.withLock { $0.cancelled += 1 } }
    func refused() { state.withLock { $0.refused += 1 } }
    func tookFirst(_ seconds: Double) { state.withLock { $0.first.add(seconds) } }
    func tookWhole(_ seconds: Double) { state.withLock { $0.whole.add(seconds) } }

    /// - Parameter gauges: current values, each with its help.
    func text(_ gauges: [(name: String, help: String, value: Int)]) -> String {
        let state = state.withLock { $0 }
        var text = ""
        func begin(_ name: String, _ help: String, _ kind: String) {
            text += "# HELP phibatch_\(name) \(help)\n# TYPE phibatch_\(name) \(kind)\n"
        }
        for (name, help, value) in gauges {
            begin(name, help, "gauge")
            text += "phibatch_\(name) \(value)\n"
        }
        begin("answers_total", "Answers, by path and status.", "counter")
        for (labels, count) in state.answers.sorted(by: { $0.key < $1.key }) {
            text += "phibatch_answers_total{\(labels)} \(count)\n"
        }
        for (name, help, value) in [
            ("prompt_tokens_total", "Tokens of prompts that were answered.", state.promptTokens),
            ("completion_tokens_total", "Tokens of answers.", state.completionTokens),
            ("cancelled_total", "Requests whose clients went away.", state.cancelled),
            ("refused_total", "Requests that came when there was no room.", state.refused),
        ] {
            begin(name, help, "counter")
            text += "phibatch_\(name) \(value)\n"
        }
        for (name, help, times) in [
            ("time_to_first_token_seconds", "From a streamed request to its first text.", state.first),
            ("request_seconds", "From a request to the end of its answer.", state.whole),
        ] {
            begin(name, help, "summary")
            text += "phibatch_\(name)_sum \(times.sum)\nphibatch_\(name)_count \(times.count)\n"
        }
        return text
    }
}
