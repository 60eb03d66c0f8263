import BatchEngine

/// What came of one piece of work, whatever an output will look like. The journal stores it; a `ResultFormat` makes
/// bytes of an output of it.
package enum GenerationResult: Sendable, Equatable {
    case completion(Completion)
    case scored(Scored)
    case failure(Failure)

    package struct Completion: Sendable, Equatable {
        package var text: String
        /// Nil if nobody knows.
        package var finishReason: FinishReason?
        package var promptTokens: Int
        package var completionTokens: Int
        package var seed: Int
        /// Of each choice, in the order given; nil if the text is not chosen from some.
        package var probabilities: [Probability]?
        /// The completion's ids; nil if the job doesn't ask for them.
        package var tokens: [Int32]?
        /// An entry for each token; nil if the job doesn't ask for them.
        package var logprobs: [LogprobEntry]?
        /// What the engine says of how the result came about.
        package var provenance: [NamedValue]
        /// The only part that differs between two runs of a job; nil if nobody measured it.
        package var timing: Timing?
        package var kept: [KeptValue]

        package init(
            text: String, finishReason: FinishReason? = nil, promptTokens: Int, completionTokens: Int,
            seed: Int = 0, probabilities: [Probability]? = nil, tokens: [Int32]? = nil,
            logprobs: [LogprobEntry]? = nil,
            provenance: [NamedValue] = [], timing: Timing? = nil, kept: [KeptValue] = []
        ) {
            self.text = text
            self.finishReason = finishReason
            self.promptTokens = promptTokens
            self.completionTokens = completionTokens
            self.seed = seed
            self.probabilities = probabilities
            self.tokens = tokens
            self.logprobs = logprobs
            self.provenance = provenance
            self.timing = timing
            self.kept = kept
        }
    }

    /// How likely a choice is among all.
    package struct Probability: Sendable, Equatable {
        package var text: String
        /// 0 to 1.
        package var value: Double

        package init(text: String, value: Double) {
            self.text = text
            self.value = value
        }
    }

    /// A field of the line, carried along.
    package struct KeptValue: Sendable, Equatable {
        package var name: String
        package var json: String

        package init(name: String, json: String) {
            self.name = name
            self.json = json
        }
    }

    package struct NamedValue: Sendable, Equatable {
        package var name: String
        package var value: String

        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    package struct Timing: Sendable, Equatable {
        /// Seconds from when the request was ready to its admission, from there to its first token, and from there
        /// to its end.
        package var queued: Double
        package var prefill: Double
        package var decode: Double
        /// Of the tokens that the last run made, from admission to the end.
        package var tokensPerSecond: Double
        /// When it ended, in seconds since 1970; nil in results of earlier versions.
        package var ended: Double?

        package init(
            queued: Double, prefill: Double, decode: Double, tokensPerSecond: Double, ended: Double? = nil
        ) {
            self.queued = queued
            self.prefill = prefill
            self.decode = decode
            self.tokensPerSecond = tokensPerSecond
            self.ended = ended
        }
    }

    package struct Failure: Sendable, Equatable {
        package var error: LineError
        /// The input's file; nil if there is but one.
        package var file: String?
        /// From 1, in its file.
        package var line: Int
        /// The answer that is not what was asked for; nil if there is none.
        package var text: String?
        package var kept: [KeptValue]

        package init(
            _ error: LineError, file: String? = nil, line: Int, text: String? = nil, kept: [KeptValue] = []
        ) {
            self.error = error
            self.file = file
            self.line = line
            self.text = text
            self.kept = kept
        }
    }

    package var isFailed: Bool {
        if case .failure = self { return true }
        return false
    }

    package var completionTokens: Int {
        switch self {
        case .completion(let completion): completion.completionTokens
        case .scored(let scored): scored.completionTokens
        case .failure: 0
        }
    }

    package var kept: [KeptValue] {
        get {
            switch self {
            case .completion(let completion): completion.kept
            case .scored(let scored): scored.kept
            case .failure(let failure): failure.kept
            }
        }
        set {
            switch self {
            case .completion(var completion):
                completion.kept = newValue
                self = .completion(completion)
            case .scored(var scored):
                scored.kept = newValue
                self = .scored(scored)
            case .failure(var failure):
                failure.kept = newValue
                self = .failure(failure)
            }
        }
    }

    /// Without what differs between two runs of a job.
    package var withoutTiming: GenerationResult {
        switch self {
        case .completion(var completion):
            completion.timing = nil
            return .completion(completion)
        case .scored(var scored):
            scored.timing = nil
            return .scored(scored)
        case .failure: return self
        }
    }
}
