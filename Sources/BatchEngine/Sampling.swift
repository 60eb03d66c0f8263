/// How one token is chosen from a row of logits.
public struct SamplingParameters: Sendable, Equatable {
    /// 0 is greedy (then the other members are without effect).
    public var temperature: Float
    /// Keep the smallest set of tokens whose probability reaches this; 1 keeps all.
    public var topP: Float
    /// Keep the K most likely tokens; 0 keeps all.
    public var topK: Int
    /// Keep tokens whose probability is at least this share of the most likely one's; 0 keeps all.
    public var minP: Float
    /// How many of the most likely tokens to report with log-probabilities; nil reports none at all,
    /// 0 only the chosen token's.
    public var logprobs: Int?

    public init(
        temperature: Float = 0, topP: Float = 1, topK: Int = 0, minP: Float = 0, logprobs: Int? = nil
    ) {
        self.temperature = temperature
        self.topP = topP
        self.topK = topK
        self.minP = minP
        self.logprobs = logprobs
    }
}

/// A request for one token behind the last row of a step.
public struct SamplingRequest: Sendable, Equatable {
    public var parameters: SamplingParameters
    /// The request's own random stream (a hash of the job's seed and the line's id and sample number).
    public var stream: UInt64
    /// Which number of that stream is used: how many tokens this completion already has.
    public var position: Int

    public init(parameters: SamplingParameters, stream: UInt64, position: Int) {
        self.parameters = parameters
        self.stream = stream
        self.position = position
    }
}
