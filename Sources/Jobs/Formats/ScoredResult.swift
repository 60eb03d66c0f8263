import OperatingSystem
import PhiText

extension GenerationResult {
    /// How likely the model finds what a line gives, after the line's prompt.
    package struct Scored: Sendable, Equatable {
        /// One, or as many as the line's list has.
        package var scores: [Score]
        /// The line has a list, be it of one.
        package var isList: Bool
        /// Tokens of the prompt by itself.
        package var promptTokens: Int
        /// Tokens of all scores.
        package var completionTokens: Int
        /// The only part that differs between two runs of a job; nil if nobody measured it.
        package var timing: Timing?
        package var kept: [KeptValue]

        package init(
            _ scores: [Score], isList: Bool, promptTokens: Int, completionTokens: Int? = nil,
            timing: Timing? = nil, kept: [KeptValue] = []
        ) {
            self.scores = scores
            self.isList = isList
            self.promptTokens = promptTokens
            self.completionTokens = completionTokens ?? scores.reduce(0) { $0 + $1.count }
            self.timing = timing
            self.kept = kept
        }

        /// The score with the highest mean; of equals the first.
        package var best: Int {
            scores.indices.reduce(0) { scores[$1].mean > scores[$0].mean ? $1 : $0 }
        }
    }

    /// How likely one completion is.
    package struct Score: Sendable, Equatable {
        /// Natural logarithms, one for each token; `LogprobEntry.impossible` for one that can't come.
        package var logprobs: [Float]
        /// The completion's ids; nil if the job doesn't ask for them.
        package var tokens: [Int32]?
        /// What the engine says of how the score came about.
        package var provenance: [NamedValue]
        /// The sum of `logprobs`, added up in their order as Doubles.
        package let logprob: Double
        package let count: Int

        package init(_ logprobs: [Float], tokens: [Int32]? = nil, provenance: [NamedValue] = []) {
            let logprobs = logprobs.map { $0.isFinite ? $0 : LogprobEntry.impossible }
            self.init(
                logprobs, tokens: tokens, provenance: provenance,
                logprob: logprobs.reduce(0) { $0 + Double($1) }, count: logprobs.count)
        }

        /// Makes a score of which nobody wants the lists.
        init(
            _ logprobs: [Float], tokens: [Int32]?, provenance: [NamedValue], logprob: Double, count: Int
        ) {
            self.logprobs = logprobs
            self.tokens = tokens
            self.provenance = provenance
            self.logprob = logprob
            self.count = count
        }

        /// A token's.
        package var mean: Double { logprob / Double(count) }
        /// e^-mean; infinite beyond the largest Double.
        package var perplexity: Double { FixedArithmetic.exp(-mean) }
    }
}
