/// Changes to the model's logits before a token is chosen.
///
/// `bias`, `presencePenalty` and `frequencyPenalty` are those of OpenAI's API: the penalties apply to tokens of the
/// completion, not of the prompt. `repetitionPenalty` is that of Hugging Face's RepetitionPenaltyLogitsProcessor, for
/// prompt and completion.
package struct LogitRules: Sendable, Equatable {
    /// Added to the logits of these tokens; -100 ... 100.
    package var bias: [Int32: Float] = [:]
    /// Subtracted from the logit of each token in the completion; -2 ... 2, 0 is none.
    package var presencePenalty: Float = 0
    /// Subtracted from a token's logit once for each time it is in the completion; -2 ... 2, 0 is none.
    package var frequencyPenalty: Float = 0
    /// Divides positive logits of tokens in prompt or completion and multiplies negative ones; above 0, 1 is none.
    package var repetitionPenalty: Float = 1
    /// Length of token sequences that may not repeat, as in Hugging Face's NoRepeatNGramLogitsProcessor; 0 is no limit.
    package var noRepeatNgramSize = 0
    /// Number of tokens before the completion may end.
    package var minTokens = 0

    package init() {}

    package init(_ settings: RequestSettings) {
        if let bias = settings.logitBias { self.bias = bias }
        if let penalty = settings.presencePenalty { presencePenalty = penalty }
        if let penalty = settings.frequencyPenalty { frequencyPenalty = penalty }
        if let penalty = settings.repetitionPenalty { repetitionPenalty = penalty }
        if let size = settings.noRepeatNgramSize { noRepeatNgramSize = size }
        if let least = settings.minTokens { minTokens = least }
    }

    /// Whether the rules depend on the completion.
    package var usesCompletion: Bool {
        presencePenalty != 0 || frequencyPenalty != 0 || minTokens > 0 || usesPrompt
    }
    /// Whether the rules depend on the prompt, too.
    package var usesPrompt: Bool { repetitionPenalty != 1 || noRepeatNgramSize > 0 }

    /// Whether the rules change any logit now.
    func changeLogits(_ history: TokenHistory) -> Bool {
        !bias.isEmpty || !history.entries.isEmpty || history.count < minTokens
    }

    /// Changes a row of logits: for each token that a rule names, in this order and with one rounding at each
    /// operation,
    ///
    ///     x = x + bias
    ///     x = x - presence                            if it is in the completion
    ///     x = x - frequency * count                   if it is in the completion
    ///     x = x > 0 ? x / repetition : x * repetition if it is in prompt or completion
    ///     x = -infinity                               if it would repeat noRepeatNgramSize tokens
    ///     x = -infinity                               if it ends the completion before minTokens
    ///
    /// Logits of -infinity stay so: those tokens are masked. Bias and penalties leave all others finite.
    /// - Parameter tokens: the tokens of the row's logits, ascending; nil: all, in the order of their ids.
    package func apply(
        to row: UnsafeMutableBufferPointer<Float>, of tokens: [Int32]? = nil, history: TokenHistory
    ) {
        func place(_ token: Int32) -> Int? {
            let place = if let tokens { Self.place(of: token, in: tokens) } else { Optional(Int(token)) }
            return place.flatMap { row.indices.contains($0) ? $0 : nil }
        }
        func change(_ token: Int32, _ body: (Float) -> Float) {
            guard let place = place(token), row[place] > -.infinity else { return }
            let largest = Float.greatestFiniteMagnitude
            row[place] = min(max(body(row[place]), -largest), largest)
        }
        for (token, bias) in bias { change(token) { $0 + bias } }
        for entry in history.entries {
            change(entry.token) { logit in
                var x = logit
                if entry.count > 0 {
                    x -= presencePenalty
                    x -= frequencyPenalty * Float(entry.count)
                }
                if repetitionPenalty != 1 { x = x > 0 ? x / repetitionPenalty : x * repetitionPenalty }
                return x
            }
        }
        let early = history.count < minTokens ? history.ends : []
        for token in history.repeating(noRepeatNgramSize) + early {
            if let place = place(token) { row[place] = -.infinity }
        }
    }

    /// Index of a token among ascending ones.
    private static func place(of token: Int32, in tokens: [Int32]) -> Int? {
        var range = tokens.indices
        while let last = range.last {
            let middle = range.lowerBound + (last - range.lowerBound) / 2
            if tokens[middle] == token { return middle }
            range = tokens[middle] < token ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return nil
    }
}
