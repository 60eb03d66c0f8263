/// A token with its natural-log probability under the model (at temperature 1, before any filter).
public struct TokenLogprob: Sendable, Equatable {
    public var id: Int32
    public var logprob: Float

    public init(id: Int32, logprob: Float) {
        self.id = id
        self.logprob = logprob
    }
}

/// The token chosen for one sequence in one step.
public struct TokenChoice: Sendable, Equatable {
    public var token: Int32
    /// The chosen token's log-probability, if logprobs were asked for.
    public var logprob: Float?
    /// The most likely tokens, most likely first (ties: lower id first).
    public var top: [TokenLogprob]

    public init(token: Int32, logprob: Float? = nil, top: [TokenLogprob] = []) {
        self.token = token
        self.logprob = logprob
        self.top = top
    }
}
