import JSON
import OperatingSystem

/// Log-probabilities of a line's completions after its prompt. The score of a single completion is the result's own;
/// those of a list are objects in `scores`:
///
///     "logprob","mean","perplexity","token_logprobs":[…][,"tokens":[…]][,"provenance":{…}],"usage":{…}
///     "scores":[{…},…],"best","usage":{…}
///
/// A result is a score if it begins so. Then `text` and other names of a completion's members are the line's.
package struct ScoredResult: TaskResult {
    /// One, or as many as the line's list has.
    package var scores: [Score]
    /// Whether the line has a list, even of one.
    package var isList: Bool
    /// Number of the prompt's own tokens.
    package var promptTokens: Int
    /// Number of tokens of all scores together.
    package var completionTokens: Int

    package init(_ scores: [Score], isList: Bool, promptTokens: Int) {
        self.scores = scores
        self.isList = isList
        self.promptTokens = promptTokens
        completionTokens = scores.reduce(0) { $0 + $1.count }
    }

    package init?(_ log: JSONValue) {
        guard let promptTokens = log["usage"]?.tokenCounts?.prompt else { return nil }
        var scores: [Score?] = [Score(log)]
        if case .array(let list)? = log["scores"] { scores = list.map { Score($0) } }
        guard case let made = scores.compactMap(\.self), made.count == scores.count, !made.isEmpty else {
            return nil
        }
        self.init(made, isList: log["scores"] != nil, promptTokens: promptTokens)
    }

    package static let names: Set = [
        "logprob", "mean", "perplexity", "token_logprobs", "scores", "best",
    ]

    /// Index of the score with the highest mean; the first among equals.
    package var best: Int {
        scores.indices.reduce(0) { scores[$1].mean > scores[$0].mean ? $1 : $0 }
    }

    package func write(_ members: ResultMembers, to writer: inout JSONWriter) {
        if isList {
            writer.objects("scores", scores) { $1.write(members, to: &$0) }
            writer.int("best", best)
        } else {
            for score in scores { score.write(members, to: &writer) }
        }
        if members != .data { writeUsage(to: &writer) }
    }

    package func describe(in report: inout ReportedResult) {
        report.status = "scored"
        report.text = scores.enumerated().map { number, score in
            "\(number): mean \(score.mean), sum \(score.logprob), tokens \(score.count)"
        }.joined(separator: "\n")
        if isList {
            report.facts.append(("best", String(best)))
            report.fields.append(.init(["best"], .int(best)))
        }
        report.fields.append(.init(["mean"], .double(scores[best].mean)))
        report.fields.append(.init(["perplexity"], .double(scores[best].perplexity)))
    }
}

/// Score of one completion.
package struct Score: Sendable, Equatable {
    /// Natural logarithms, one for each token; `LogprobEntry.impossible` for a masked one.
    package var logprobs: [Float]
    /// Token ids of the completion; nil unless the job asks for them.
    package var tokens: [Int32]?
    /// The engine's facts about the score.
    package var provenance: [String: String]
    /// Sum of `logprobs`, added in order as Doubles.
    package let logprob: Double

    package init(
        _ logprobs: [Float], tokens: [Int32]? = nil, provenance: [String: String] = [:]
    ) {
        self.logprobs = logprobs.map { $0.isFinite ? $0 : LogprobEntry.impossible }
        (self.tokens, self.provenance) = (tokens, provenance)
        logprob = self.logprobs.reduce(0) { $0 + Double($1) }
    }

    /// Sums are made again.
    fileprivate init?(_ log: JSONValue) {
        guard case .array(let values)? = log["token_logprobs"], !values.isEmpty else { return nil }
        self.init(
            values.compactMap(\.float), tokens: log["tokens"]?.numbers(Int32.self),
            provenance: log.provenance)
    }

    package var count: Int { logprobs.count }
    /// Mean per token.
    package var mean: Double { logprob / Double(count) }
    /// e^-mean; infinite beyond the largest Double.
    package var perplexity: Double { FixedArithmetic.exp(-mean) }

    fileprivate func write(_ members: ResultMembers, to writer: inout JSONWriter) {
        writer.number("logprob", logprob)
        writer.number("mean", mean)
        writer.number("perplexity", perplexity)
        if members == .data { return }
        writer.array("token_logprobs", logprobs) { $0.number($1) }
        if let tokens { writer.array("tokens", tokens) { $0.int($1) } }
        writer.provenance(provenance)
    }
}
