/// Metrics of a server in Prometheus' text format.
struct ServerMetrics {
    struct Times {
        private(set) var count = 0
        private(set) var sum = 0.0

        mutating func add(_ seconds: Double) { (count, sum) = (count + 1, sum + seconds) }
    }

    /// Number of answers by path and status.
    private var answers: [String: Int] = [:]
    /// Number of requests to the model so far.
    var begun = 0
    /// Number of those that wait or run.
    var open: Int { begun - whole.count - cancelled }
    var promptTokens = 0
    var completionTokens = 0
    var cancelled = 0
    var refused = 0
    var first = Times()
    var whole = Times()

    mutating func answered(_ path: String, status: Int) {
        answers["path=\"\(path)\",status=\"\(status)\"", default: 0] += 1
    }

    func text(connections: Int, batches: Int) -> String {
        var text = ""
        func add(_ name: String, _ help: String, _ kind: String, _ samples: [(String, String)]) {
            text += "# HELP phibatch_\(name) \(help)\n# TYPE phibatch_\(name) \(kind)\n"
            for (suffix, value) in samples { text += "phibatch_\(name)\(suffix) \(value)\n" }
        }
        add("connections", "Connections.", "gauge", [("", "\(connections)")])
        add("requests", "Requests that wait or run.", "gauge", [("", "\(open)")])
        add("batches", "Batches that wait or run.", "gauge", [("", "\(batches)")])
        let sorted = answers.sorted { $0.key < $1.key }
        add(
            "answers_total", "Answers, by path and status.", "counter",
            sorted.map { ("{\($0.key)}", "\($0.value)") })
        for (name, help, value) in [
            ("prompt_tokens_total", "Tokens of prompts that were answered.", promptTokens),
            ("completion_tokens_total", "Tokens of answers.", completionTokens),
            ("cancelled_total", "Requests whose clients went away.", cancelled),
            ("refused_total", "Requests that came when there was no room.", refused),
        ] {
            add(name, help, "counter", [("", "\(value)")])
        }
        for (name, help, times) in [
            ("time_to_first_token_seconds", "From a streamed request to its first text.", first),
            ("request_seconds", "From a request to the end of its answer.", whole),
        ] {
            add(name, help, "summary", [("_sum", "\(times.sum)"), ("_count", "\(times.count)")])
        }
        return text
    }
}
