import BatchPipeline
import JSON

/// A result for a report.
struct ReportedResult: Sendable {
    let key: ResultKey
    let result: GenerationResult
    /// Index of the line in the output; nil if unknown.
    var index: Int?
    /// The finish reason, or the error's code.
    private(set) var status = "unknown"
    /// The answer; nil for an error without one.
    private(set) var text: String?
    /// Further values by name: the engine's facts, and kept fields of the line.
    private(set) var facts: [(name: String, value: String)] = []
    /// Its data by name.
    private(set) var fields: [ReportedField] = []

    var sample: Int { key.sample }
    var isFailed: Bool { result.isFailed }
    var message: String? { result.error?.string("message") }
    /// Line number of an error, from 1.
    var line: Int? { result.error?.int("line") }
    /// Nil for an error.
    var promptTokens: Int? { result.own["usage"]?.int("prompt_tokens") }
    var completionTokens: Int? { result.own["usage"]?.int("completion_tokens") }
    var seed: Int? {
        if case .int(let seed)? = result.own["seed"] { seed } else { nil }
    }
    var timing: JSONObject? { result.timing }

    init(_ record: ResultRecord) { self.init(record.result, record.key) }

    init(_ result: GenerationResult, _ key: ResultKey) {
        (self.key, self.result) = (key, result)
        if let error = result.error {
            (status, text) = (error.string("code") ?? status, error.string("text"))
            if let file = error.string("file") { facts.append(("file", file)) }
        } else if let steps = result.steps {
            describe(steps)
        } else if let text = result.text {
            describe(text)
        } else {
            describeScores()
        }
        for kept in result.kept where kept.name != OpenAIRequest.keptName {
            facts.append((kept.name, kept.value.plainText))
            fields += ReportedField.parts(of: kept.value, at: [kept.name], isOfLine: true)
        }
    }

    private mutating func describe(_ answer: String) {
        status = result.finishReason?.rawValue ?? status
        text = answer
        if case .object(let choices)? = result.own["probabilities"] {
            func field(_ name: String, _ value: JSONValue) {
                fields.append(.init([name], value.number.map { .double($0) } ?? .null))
            }
            fields.append(.init(["class"], .string(answer)))
            if let probability = choices[answer] { field("probability", probability) }
            for choice in choices {
                field("p(\(choice.name))", choice.value)
                facts.append(("p(\(choice.name))", "\(choice.value.number ?? 0)"))
            }
        } else {
            fields += ReportedField.parts(ofAnswer: answer)
            if let count = result.own["usage"]?["reasoning_tokens"] {
                fields.append(.init(["reasoning_tokens"], count))
            }
        }
        if case .string(let reasoning)? = result.own["reasoning"] { facts.append(("reasoning", reasoning)) }
        if let calls = result.own["tool_calls"]?.elements {
            let named = calls.map { ($0["function"]?.string("name") ?? "", $0["function"]) }
            if let name = named.first?.0 { fields.append(.init(["call"], .string(name))) }
            facts += named.map { ("calls \($0)", $1?.string("arguments") ?? "") }
        }
        if case .object(let provenance)? = result.own["provenance"] {
            facts += provenance.map { ($0.name, $0.value.plainText) }
        }
    }

    private mutating func describeScores() {
        status = "scored"
        let scores = result.own["scores"]?.elements ?? [.object(result.own)]
        text = scores.enumerated().map { number, score in
            let (mean, sum) = (score.number("mean") ?? 0, score.number("logprob") ?? 0)
            let count = score["token_logprobs"]?.elements?.count ?? 0
            return "\(number): mean \(mean), sum \(sum), tokens \(count)"
        }.joined(separator: "\n")
        var best = 0
        if case .int(let number)? = result.own["best"] {
            best = number
            facts.append(("best", String(best)))
            fields.append(.init(["best"], .int(best)))
        }
        for name in ["mean", "perplexity"] where scores.indices.contains(best) {
            fields.append(.init([name], scores[best].number(name).map { .double($0) } ?? .null))
        }
    }

    private mutating func describe(_ steps: [JSONMember]) {
        status = result.outcome.map { "\($0)" } ?? status
        if result.original != nil { status = "dropped by \(result.dropped ?? ""), a duplicate" }
        var texts: [String] = []
        for step in steps {
            let own = ReportedResult(GenerationResult(step: step.value), key)
            texts.append("\(step.name): \(own.text ?? "")")
            fields += own.fields.map { .init([step.name] + $0.path, $0.value) }
            if own.result.text != nil {
                fields.append(.init([step.name, "finish_reason"], .string(own.status)))
            }
        }
        text = texts.joined(separator: "\n\n")
    }
}

/// A value to group results by: a member of a structured answer, a class, a score, a field of the line.
struct ReportedField: Sendable {
    /// Names of the enclosing objects and its own; empty for an answer as a whole.
    var path: [String]
    /// Whether it is kept from the line.
    var isOfLine: Bool
    var value: JSONValue
    /// Depth to which objects are opened.
    private static let depth = 4

    init(_ path: [String], _ value: JSONValue, isOfLine: Bool = false) {
        (self.path, self.value, self.isOfLine) = (path, value, isOfLine)
    }

    /// Returns an object's members recursively; any other value alone.
    static func parts(of value: JSONValue, at path: [String] = [], isOfLine: Bool = false) -> [Self] {
        guard case .object(let members) = value, !members.isEmpty, path.count < depth else {
            return [Self(path, value, isOfLine: isOfLine)]
        }
        return members.flatMap { parts(of: $0.value, at: path + [$0.name], isOfLine: isOfLine) }
    }

    /// Returns the members of an answer that is an object, or else the answer itself.
    static func parts(ofAnswer text: String) -> [Self] {
        parts(of: GenerationResult.object(of: text).map { .object($0) } ?? .string(text))
    }

    /// Name on a page.
    static func name(of path: [String]) -> String {
        path.isEmpty ? "text" : path.joined(separator: ".")
    }
}
