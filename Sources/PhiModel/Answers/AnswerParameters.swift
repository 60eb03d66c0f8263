import BatchEngine

/// How an answer is generated. What is not set changes nothing.
public struct AnswerParameters: Sendable, Equatable {
    /// The most tokens of the answer; the model's context may end it earlier.
    public var maxTokens: Int
    /// 0 is greedy: then `topP`, `topK`, `minP` and `seed` are without effect. At most 10.
    public var temperature: Float
    /// Keeps the smallest set of tokens whose probabilities reach this together; above 0, 1 keeps all.
    public var topP: Float
    /// Keeps the K most likely tokens; 0 keeps all.
    public var topK: Int
    /// Keeps tokens whose probability is at least this share of the most likely one's; 0 ... 1, 0 keeps all.
    public var minP: Float
    /// Taken from the logit of each token that the answer has; -2 ... 2.
    public var presencePenalty: Float = 0
    /// Taken from a token's logit once for each time the answer has it; -2 ... 2.
    public var frequencyPenalty: Float = 0
    /// Divides positive logits of tokens that prompt or answer have, and multiplies negative ones; above 0, at
    /// most 100.
    public var repetitionPenalty: Float = 1
    /// Added to the logits of these token ids; -100 ... 100.
    public var logitBias: [Int32: Float] = [:]
    /// Names the random stream. The same prompt, parameters and seed give the same answer.
    public var seed: UInt64
    /// Any of these strings ends the answer, which is cut before it.
    public var stop: [String]

    /// The members that most programs set; the others can be set afterwards.
    public init(
        maxTokens: Int = 256, temperature: Float = 0, topP: Float = 1, topK: Int = 0, minP: Float = 0,
        seed: UInt64 = 0, stop: [String] = []
    ) {
        self.maxTokens = maxTokens
        self.temperature = temperature
        self.topP = topP
        self.topK = topK
        self.minP = minP
        self.seed = seed
        self.stop = stop
    }

    var sampling: SamplingParameters {
        SamplingParameters(
            temperature: temperature, topP: topP, topK: topK, minP: minP,
            rules: LogitRules(
                bias: logitBias, presencePenalty: presencePenalty, frequencyPenalty: frequencyPenalty,
                repetitionPenalty: repetitionPenalty))
    }

    /// What is wrong with them for a vocabulary of this size; nil if nothing is.
    func problem(vocabularySize: Int) -> String? {
        if maxTokens < 0 { return "maxTokens must be 0 or more, but is \(maxTokens)." }
        if !(0...10).contains(temperature) {
            return "temperature must be from 0 to 10, but is \(temperature)."
        }
        if !(topP > 0 && topP <= 1) { return "topP must be above 0 and at most 1, but is \(topP)." }
        if topK < 0 { return "topK must be 0 or more, but is \(topK)." }
        if !(0...1).contains(minP) { return "minP must be from 0 to 1, but is \(minP)." }
        return StopSet.problem(with: stop).map { "stop \($0)." }
            ?? sampling.rules.problem(vocabularySize: vocabularySize)
    }
}
