/// Parameters by which a token is chosen from a row of logits. `SamplingRequest` has their order.
package struct SamplingParameters: Sendable {
    /// 0 is greedy: then filters have no effect.
    package var temperature: Float = 0
    /// Filters that the settings ask for.
    package var filters: [any SamplingFilter]
    /// Number of the likeliest tokens to report with log-probabilities; 0 reports only the chosen token's, nil none.
    package var logprobs: Int?
    /// Changes to the logits before all that.
    package var rules: LogitRules
    /// Whether the completion depends on the random stream.
    package let draws: Bool

    package init(_ settings: RequestSettings = RequestSettings()) {
        if let temperature = settings.temperature { self.temperature = temperature }
        draws = temperature > 0 && settings.topK != 1
        filters = temperature > 0 ? SamplingFilters.list.compactMap { $0.init(settings) } : []
        logprobs = settings.logprobs
        rules = LogitRules(settings)
    }
}
