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
        for (name, count, range) in [
            ("maxTokens", maxTokens, 0...Int.max), ("topK", topK, SamplingParameters.topKRange),
        ] where !range.contains(count) {
            return "\(name) must be \(range.right), but is \(count)."
        }
        for (name, number, range) in [
            ("temperature", temperature, SamplingParameters.temperatureRange),
            ("topP", topP, SamplingParameters.topPRange), ("minP", minP, SamplingParameters.minPRange),
        ] where !range.contains(Double(number)) {
            return "\(name) must be \(range.right), but is \(number)."
        }
        return StopSet.problem(with: stop).map { "stop \($0)." }
            ?? sampling.rules.problem(vocabularySize: vocabularySize)
    }
}
