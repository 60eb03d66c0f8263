import Essentials
import JSON

/// Scores as members of a JSON object. Those of a completion that stands alone are the result's own; those of a list
/// are objects in `scores`:
///
///     "logprob","mean","perplexity","token_logprobs":[…][,"tokens":[…]][,"provenance":{…}],"usage":{…}
///     "scores":[{…},…],"best","usage":{…}
///
/// A result is a score if it begins so. Then `text` and other names that a completion would have are the line's.
extension ResultCoding {
    static func write(_ scored: GenerationResult.Scored, _ writer: inout JSONWriter) {
        if scored.isList {
            writer.array("scores") { writer in
                for score in scored.scores { writer.object { write(score, &$0) } }
            }
            writer.int("best", scored.best)
        } else {
            for score in scored.scores { write(score, &writer) }
        }
        writeUsage(scored.promptTokens, scored.completionTokens, &writer)
    }

    private static func write(_ score: GenerationResult.Score, _ writer: inout JSONWriter) {
        writer.number("logprob", score.logprob)
        writer.number("mean", score.mean)
        writer.number("perplexity", score.perplexity)
        writer.array("token_logprobs") { writer in for value in score.logprobs { writer.number(value) } }
        if let tokens = score.tokens { write(tokens, &writer) }
        write(score.provenance, &writer)
    }

    /// Reads a score's own members.
    struct ScoreReader {
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

        /// - Returns: false, and nothing is read, if the member is no score's.
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

        /// Nil if the members don't make a score, or its numbers are not those of its tokens.
        var score: GenerationResult.Score? {
            let score = GenerationResult.Score(
                logprobs, tokens: tokens, provenance: provenance, logprob: sum, count: count)
            guard count > 0, logprob == sum, mean == score.mean, perplexity == score.perplexity else {
                return nil
            }
            return score
        }
    }

    /// Reads the members of a result that begins as a score.
    struct ScoredReader {
        let keeps: Bool
        private var single: ScoreReader?
        private var list: [GenerationResult.Score] = []
        private var best: Int?

        /// Nil if no scored result begins so.
        init?(first name: UnsafeBufferPointer<UInt8>, keeps: Bool) {
            self.keeps = keeps
            if name.spells("logprob") {
                single = ScoreReader(keeps: keeps)
            } else if !name.spells("scores") {
                return nil
            }
        }

        /// - Returns: false, and nothing is read, if the member is not one of scores.
        mutating func take(
            _ name: UnsafeBufferPointer<UInt8>, from scanner: inout JSONScanner
        ) throws -> Bool {
            if single != nil { return try single?.take(name, from: &scanner) ?? false }
            if name.spells("scores") {
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
            } else if name.spells("best") {
                best = try scanner.count()
            } else {
                return false
            }
            return true
        }

        /// Nil if the members don't make a result.
        func result(
            promptTokens: Int, completionTokens: Int, timing: GenerationResult.Timing?,
            kept: [GenerationResult.KeptValue]
        ) -> GenerationResult.Scored? {
            let scores: [GenerationResult.Score]
            if let single {
                guard let score = single.score else { return nil }
                scores = [score]
            } else {
                scores = list
            }
            let made = GenerationResult.Scored(
                scores, isList: single == nil, promptTokens: promptTokens, timing: timing, kept: kept)
            guard !scores.isEmpty, made.completionTokens == completionTokens,
                single != nil || best == made.best
            else { return nil }
            return made
        }
    }
}
