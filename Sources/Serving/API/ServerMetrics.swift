/// Metrics of a server in Prometheus' text format.
struct ServerMetrics {
    struct Times {
        private(set) var count = 0
        private(set) var sum = 0.0

        mutating func add(_ seconds: Double) { (count, sum) = (count + 1, sum + seconds) }
    }

    /// Number of answers by path and status.
    private var answers: [String: Int] = [:]
    var promptTokens = 0
    var completionTokens = 0
    var cancelled = 0
    var refused = 0
    var first = Times()
    var whole = Times()

    mutating func answered(_ path: String, status: Int) {
        answers["path=\"\(path)\",status=\"\(status)\"", default: 0] += 1
    }

    /// - Parameter gauges: current values, each with its help.
    func text(_ gauges: [(name: String, help: String, value: Int)]) -> String {
        var text = ""
        func begin(_ name: String, _ help: String, _ kind: String) {
            text += "# HELP phibatch_\(name) \(help)\n# TYPE phibatch_\(name) \(kind)\n"
        }
        for (name, help, value) in gauges {
            begin(name, help, "gauge")
            text += "phibatch_\(name) \(value)\n"
        }
        begin("answers_total", "Answers, by path and status.", "counter")
        for (labels, count) in answers.sorted(by: { $0.key < $1.key }) {
            text += "phibatch_answers_total{\(labels)} \(count)\n"
        }
        for (name, help, value) in [
            ("prompt_tokens_total", "Tokens of prompts that were answered.", promptTokens),
            ("completion_tokens_total", "Tokens of answers.", completionTokens),
            ("cancelled_total", "Requests whose clients went away.", cancelled),
            ("refused_total", "Requests that came when there was no room.", refused),
        ] {
            begin(name, help, "counter")
            text += "phibatch_\(name) \(value)\n"
        }
        for (name, help, times) in [
            ("time_to_first_token_seconds", "From a streamed request to its first text.", first),
            ("request_seconds", "From a request to the end of its answer.", whole),
        ] {
            begin(name, help, "summary")
            text += "phibatch_\(name)_sum \(times.sum)\nphibatch_\(name)_count \(times.count)\n"
        }
        return text
    }
}
