import BatchEngine

extension SamplingParameters {
    package init(
        temperature: Float, topP: Float? = nil, topK: Int? = nil, minP: Float? = nil, logprobs: Int? = nil,
        rules: LogitRules = LogitRules()
    ) {
        self.init(RequestSettings(temperature: temperature, topP: topP, topK: topK, minP: minP))
        (self.logprobs, self.rules) = (logprobs, rules)
    }

    /// Greedy.
    package init(logprobs: Int) { self.init(temperature: 0, logprobs: logprobs) }
    package init(rules: LogitRules) { self.init(temperature: 0, rules: rules) }
    package init(logprobs: Int, rules: LogitRules) {
        self.init(temperature: 0, logprobs: logprobs, rules: rules)
    }
}

extension LogitRules {
    package init(
        bias: [Int32: Float] = [:], presencePenalty: Float? = nil, frequencyPenalty: Float? = nil,
        repetitionPenalty: Float? = nil, noRepeatNgramSize: Int? = nil, minTokens: Int? = nil
    ) {
        var settings = RequestSettings()
        (settings.logitBias, settings.minTokens) = (bias, minTokens)
        (settings.presencePenalty, settings.frequencyPenalty) = (presencePenalty, frequencyPenalty)
        (settings.repetitionPenalty, settings.noRepeatNgramSize) = (repetitionPenalty, noRepeatNgramSize)
        self.init(settings)
    }
}

extension SamplingRequest {
    /// Applies steps 1 and 2 in place.
    package func changeLogits(_ row: UnsafeMutableBufferPointer<Float>) {
        constraint?.allowed().apply(to: row)
        parameters.rules.apply(to: row, history: history)
    }
}
