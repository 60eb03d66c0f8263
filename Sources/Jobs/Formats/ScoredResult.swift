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

    package static var reader: any ResultReader.Type { ScoredReader.self }
    package static let names: Set = [
        "logprob", "mean", "perplexity", "token_logprobs", "scores", "best",
    ]
    package static let isAnswer = false

    /// Index of the score with the highest mean; the first among equals.
    package var best: Int {
        scores.indices.reduce(0) { scores[$1].mean > scores[$0].mean ? $1 : $0 }
    }

    package func write(_ members: ResultMembers, to writer: inout JSONWriter) {
        if isList {
            writer.array("scores") { writer in
                for score in scores { writer.object { score.write(members, to: &$0) } }
            }
            writer.int("best", best)
        } else {
            for score in scores { score.write(members, to: &writer) }
        }
        if members != .data { ResultCoding.writeUsage(of: self, &writer) }
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
    package var provenance: [GenerationResult.NamedValue]
    /// Sum of `logprobs`, added in order as Doubles.
    package let logprob: Double
    package let count: Int
}

extension Score {
    package init(
        _ logprobs: [Float], tokens: [Int32]? = nil, provenance: [GenerationResult.NamedValue] = []
    ) {
        let logprobs = logprobs.map { $0.isFinite ? $0 : LogprobEntry.impossible }
        self.init(
            logprobs: logprobs, tokens: tokens, provenance: provenance,
            logprob: logprobs.reduce(0) { $0 + Double($1) }, count: logprobs.count)
    }

    /// Mean per token.
    package var mean: Double { logprob / Double(count) }
    /// e^-mean; infinite beyond the largest Double.
    package var perplexity: Double { FixedArithmetic.exp(-mean) }

    fileprivate func write(_ members: ResultMembers, to writer: inout JSONWriter) {
        writer.number("logprob", logprob)
        writer.number("mean", mean)
        writer.number("perplexity", perplexity)
        if members == .data { return }
        writer.array("token_logprobs") { writer in for value in logprobs { writer.number(value) } }
        if let tokens { ResultCoding.write(tokens, &writer) }
        ResultCoding.write(provenance, &writer)
    }
}

/// Reads a score's own members.
private struct ScoreReader {
    let keeps: Bool
    private var logprob: Double?
    private var mean: Double?
    private var perplexity: Double?
    private var logprobs: [Float] = []
    private var sum = 0.0
    private var count = 0
    private var tokens: [Int32]?
    private var provenance: [GenerationResult.NamedValue] = []

    init(keeps: Bool) { self.keeps = keeps }

    /// - Returns: false, without reading, if the member is no score's.
    mutating func take(
        _ name: UnsafeBufferPointer<UInt8>, from scanner: inout JSONScanner
    ) throws -> Bool {
        if name.spells("logprob") {
            logprob = try scanner.number()
        } else if name.spells("mean") {
            mean = try scanner.number()
        } else if name.spells("perplexity") {
            perplexity = .infinity
            if try scanner.peek() == .null {
                try scanner.null()
            } else {
                perplexity = try scanner.number()
            }
        } else if name.spells("token_logprobs") {
            try takeLogprobs(&scanner)
        } else if name.spells("tokens") {
            tokens = try ResultCoding.tokens(&scanner, keeps: keeps)
        } else if name.spells("provenance") {
            provenance = try ResultCoding.provenance(&scanner, keeps: keeps)
        } else {
            return false
        }
        return true
    }

    private mutating func takeLogprobs(_ scanner: inout JSONScanner) throws {
        (logprobs, sum, count) = ([], 0, 0)
        try scanner.array { scanner in
            // Not by way of a Double, which could round twice.
            let text = String(decoding: try scanner.numberBytes(), as: UTF8.self)
            guard let value = Float(text), value.isFinite else {
                throw scanner.fault("expected a log-probability")
            }
            sum += Double(value)
            count += 1
            if keeps { logprobs.append(value) }
        }
    }

    /// Nil if the members are no score, or its numbers contradict its tokens.
    var score: Score? {
        let score = Score(
            logprobs: logprobs, tokens: tokens, provenance: provenance, logprob: sum, count: count)
        guard count > 0, logprob == sum, mean == score.mean, perplexity == score.perplexity else {
            return nil
        }
        return score
    }
}

struct ScoredReader: ResultReader {
    private let keeps: Bool
    private var single: ScoreReader?
    private var list: [Score] = []
    private var best: Int?
    private var usage: ResultCoding.Usage?

    init?(first name: UnsafeBufferPointer<UInt8>, keeps: Bool) {
        self.keeps = keeps
        if name.spells("logprob") {
            single = ScoreReader(keeps: keeps)
        } else if !name.spells("scores") {
            return nil
        }
    }

    mutating func take(
        _ name: UnsafeBufferPointer<UInt8>, from scanner: inout JSONScanner
    ) throws -> Bool {
        if name.spells("usage") {
            usage = try ResultCoding.Usage(&scanner)
            return true
        }
        if single != nil { return try single?.take(name, from: &scanner) ?? false }
        if name.spells("scores") {
            try takeList(&scanner)
        } else if name.spells("best") {
            best = try scanner.count()
        } else {
            return false
        }
        return true
    }

    private mutating func takeList(_ scanner: inout JSONScanner) throws {
        try scanner.array { scanner in
            var reader = ScoreReader(keeps: keeps)
            try scanner.object { scanner, name in
                guard try reader.take(name, from: &scanner) else {
                    throw scanner.fault("a score has no such member")
                }
            }
            guard let score = reader.score else { throw scanner.fault("no score") }
            list.append(score)
        }
    }

    var result: (any TaskResult)? {
        if let single, single.score == nil { return nil }
        let scores = single?.score.map { [$0] } ?? list
        guard let usage, !scores.isEmpty else { return nil }
        let made = ScoredResult(scores, isList: single == nil, promptTokens: usage.prompt)
        guard made.completionTokens == usage.completion, single != nil || best == made.best else {
            return nil
        }
        return made
    }
}
