/// Parameters by which a token is chosen from a row of logits. `SamplingRequest` has their order.
package struct SamplingParameters: Sendable, Equatable {
    /// 0 is greedy (then topP, topK and minP have no effect).
    package var temperature: Float
    /// Keep the smallest set of tokens whose probability reaches this; 1 keeps all.
    package var topP: Float
    /// Keep the K most likely tokens; 0 keeps all.
    package var topK: Int
    /// Keep tokens whose probability is at least this share of the most likely one's; 0 keeps all.
    package var minP: Float
    /// Number of the likeliest tokens to report with log-probabilities; 0 reports only the chosen token's, nil none.
    package var logprobs: Int?
    /// Changes to the logits before all that.
    package var rules: LogitRules

    package init(
        temperature: Float = 0, topP: Float = 1, topK: Int = 0, minP: Float = 0, logprobs: Int? = nil,
        rules: LogitRules = LogitRules()
    ) {
        self.temperature = temperature
        self.topP = topP
        self.topK = topK
        self.minP = minP
        self.logprobs = logprobs
        self.rules = rules
    }

    package init(_ settings: RequestSettings) {
        self.init(
            temperature: settings.temperature ?? 0, topP: settings.topP ?? 1, topK: settings.topK ?? 0,
            minP: settings.minP ?? 0, logprobs: settings.logprobs, rules: LogitRules(settings))
    }
}
