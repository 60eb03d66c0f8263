/// A token with its natural-log probability under the model (at temperature 1, before any filter).
package struct TokenLogprob: Sendable, Equatable {
    package var id: Int32
    package var logprob: Float

    package init(id: Int32, logprob: Float) {
        self.id = id
        self.logprob = logprob
    }
}

/// The token chosen for one sequence in one pass, or the reason why there is none.
package struct SampledToken: Sendable, Equatable {
    /// Set if no token could be chosen. Then the other members mean nothing, and the sequence cannot go on.
    package var fault: ChoiceFault?
    package var token: Int32
    /// Log-probability of the token, if the request asks for logprobs.
    package var logprob: Float?
    /// The most likely tokens, most likely first (ties: lower id first).
    package var top: [TokenLogprob]

    package init(token: Int32, logprob: Float? = nil, top: [TokenLogprob] = []) {
        self.token = token
        self.logprob = logprob
        self.top = top
    }

    package init(fault: ChoiceFault) {
        self.init(token: -1)
        self.fault = fault
    }
}

/// Reason why no token could be chosen from a row of logits.
package enum ChoiceFault: Sendable, Equatable {
    /// A logit is infinite or NaN: the weights are damaged.
    case notFinite
    /// The constraint allows neither a token nor the end of sequence.
    case nothingAllowed
}
