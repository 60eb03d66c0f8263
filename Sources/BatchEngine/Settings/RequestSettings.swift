/// Settings of a request beside its prompt. Each stands here once; nil is not set.
///
/// Shared by jobs, their lines, bodies of OpenAI's API, chats and programs. `RequestSetting.all` has a row for each
/// member with its range, default and places. A new setting is a member here and a row there.
public struct RequestSettings: Sendable, Equatable {
    /// The most tokens of a completion, which no line of a job can exceed; the model's context may end it earlier. Nil
    /// is 256.
    public var maxTokens: Int?
    /// Sampled tokens before a completion may end: the end of sequence is masked and stop strings are ignored among
    /// them, as in vLLM. At most `maxTokens`; nil is 0.
    public var minTokens: Int?
    /// 0, the default, is greedy: then `topP`, `topK`, `minP` and `seed` have no effect. At most 10.
    public var temperature: Float?
    /// Keeps the smallest set of tokens whose probabilities add up to this; above 0, 1 keeps all.
    public var topP: Float?
    /// Keeps this many of the likeliest tokens; 0 keeps all.
    public var topK: Int?
    /// Keeps tokens whose probability is at least this share of the likeliest one's; 0 ... 1, 0 keeps all.
    public var minP: Float?
    /// Subtracted from the logit of each token in the completion; -2 ... 2, as in OpenAI's API.
    public var presencePenalty: Float?
    /// Subtracted from a token's logit once for each time it is in the completion; -2 ... 2, as in OpenAI's API.
    public var frequencyPenalty: Float?
    /// Divides positive logits of tokens in prompt or completion and multiplies negative ones; above 0, at most 100, as
    /// in Hugging Face's transformers.
    public var repetitionPenalty: Float?
    /// Length of token sequences that may not repeat in prompt and completion together; 0 is no limit, as in Hugging
    /// Face's transformers.
    public var noRepeatNgramSize: Int?
    /// Added to the logits of these token ids; -100 ... 100.
    public var logitBias: [Int32: Float]?
    /// Seed of the random streams: the same prompt, settings and seed give the same completion. A line's own replaces
    /// the job's.
    public var seed: Int?
    /// Strings that end a completion, which is cut before them. A line's are added to the job's.
    public var stop: [String]?
    /// Answers to choose from, two or more: the result is the likeliest, with the probability of each. In a job a
    /// single `{{ FIELD }}` names a field of the line with a list of them.
    public var choices: [String]?
    /// Results for each line, each with its own random stream.
    public var samples: Int?
    /// Continues after the end of sequence up to the most tokens, for measurements.
    public var ignoreEndOfSequence: Bool?

    /// Spaces per level of indentation of JSON, 0 ... 16, with each member on its own line; nil is no white space.
    public var indent: Int?
    /// Whether objects may have members that a schema neither names nor forbids; nil allows them only if the schema
    /// mentions them.
    public var openObjects: Bool?
    /// Number of times an answer that breaks its constraint is generated again, 0 ... 100; nil is 3.
    public var retries: Int?

    /// Treatment of the model's reasoning: `separate` keeps it apart from the answer, `keep` leaves it in the text,
    /// `drop` discards it. Nil is `separate` if the model's files say that it reasons; otherwise nothing counts as
    /// reasoning.
    public var reasoning: String?
    /// The number of tokens at which reasoning is ended and the answer begins; nil is no limit but `maxTokens`.
    public var maxReasoningTokens: Int?
    /// Limit of reasoning as a share of `maxTokens`, as in OpenAI's API; used if `maxReasoningTokens` is nil.
    public var reasoningEffort: String?
    /// The sentence that ends reasoning at its limit.
    public var reasoningEnding: String?

    /// Whether the model calls tools: `auto` (the default) leaves it the choice, `none`, `required`, or the name of the
    /// tool to call.
    public var toolChoice: String?
    /// The most calls in an answer; nil is no limit.
    public var maxToolCalls: Int?

    /// Adds the completion's token ids to results.
    public var tokens: Bool?
    /// Adds log-probabilities of each sampled token and of this many of the likeliest, 0 ... 20; nil adds none.
    public var logprobs: Int?

    /// Creates settings from the most common members; the others can be set afterwards.
    public init(
        maxTokens: Int? = nil, temperature: Float? = nil, topP: Float? = nil, topK: Int? = nil,
        minP: Float? = nil, seed: Int? = nil, stop: [String]? = nil
    ) {
        self.maxTokens = maxTokens
        self.temperature = temperature
        self.topP = topP
        self.topK = topK
        self.minP = minP
        self.seed = seed
        self.stop = stop
    }

    public static let defaultMaxTokens = 256
    package static let defaultReasoningEnding = "That is enough; I answer now."
    /// Eighths of `maxTokens` that reasoning may have.
    static let reasoningEfforts = [("none", 0), ("minimal", 1), ("low", 2), ("medium", 4), ("high", 6)]
        .map { (name: $0, eighths: $1) }
    package static let defaultRetries = 3
    package static let retriesRange = 0...100
    /// A chat's defaults.
    package static let ofChats = RequestSettings(maxTokens: 1024, temperature: 0.7)

    /// Treatment of reasoning before an answer.
    package enum ReasoningUse: String, Sendable, CaseIterable { case separate, keep, drop }

    /// - Parameter isUsual: whether the model's files say that it reasons.
    /// - Returns: nil if nothing counts as reasoning.
    package func reasoningUse(isUsual: Bool) -> ReasoningUse? {
        reasoning.flatMap { ReasoningUse(rawValue: $0) } ?? (isUsual ? .separate : nil)
    }

    /// The most tokens of reasoning in a completion of up to `maxTokens`; nil is no limit.
    package func reasoningLimit(maxTokens: Int) -> Int? {
        if let maxReasoningTokens { return maxReasoningTokens }
        return Self.reasoningEfforts.first { $0.name == reasoningEffort }.map { maxTokens * $0.eighths / 8 }
    }

    /// Returns the problem with the settings together, in a sentence; nil if there is none.
    package func problem(vocabularySize: Int) -> String? {
        if let least = minTokens, least > maxTokens ?? RequestSettings.defaultMaxTokens {
            return "min_tokens is \(least), but max_tokens \(maxTokens ?? RequestSettings.defaultMaxTokens)."
        }
        guard let token = logitBias?.keys.filter({ $0 < 0 || $0 >= vocabularySize }).min() else { return nil }
        return "logit_bias has the token id \(token), but the model's ids end at \(vocabularySize - 1)."
    }
}

extension RequestSetting {
    /// Rows in the order of the help and of the fingerprint.
    package static let all = sampling + answers + results

    /// Choice of a completion's tokens, and its end.
    package static let sampling: [RequestSetting] = [
        RequestSetting(
            "max_tokens", "N",
            "the most tokens of a completion; no line can exceed it (default \(RequestSettings.defaultMaxTokens))",
            .int(\.maxTokens, 1...Int.max, default: RequestSettings.defaultMaxTokens),
            for: [.generate, .choose], precedence: .least, unset: "-", changesOutcomeOf: [.generate],
            chatHelp: "the most tokens of an answer (default 1024)"),
        RequestSetting(
            "temperature", "X", "0 is greedy (default 0)",
            .number(\.temperature, NumberRange(0, to: 10), default: 0),
            // A choice is drawn from the probabilities of all.
            in: Place.withResponses, for: [.generate, .choose], unset: "-", changesOutcomeOf: [.generate],
            order: 6,
            chatHelp: "0 is greedy (default 0.7)"),
        RequestSetting(
            "top_p", "X", "keep the likeliest tokens whose probabilities add up to this (default 1: all)",
            .number(\.topP, NumberRange(above: 0, to: 1), default: 1), in: Place.withResponses,
            unset: "-", order: 8),
        RequestSetting(
            "top_k", "N", "keep the N likeliest tokens (default 0: all)",
            .int(\.topK, 0...Int.max, default: 0), in: Place.withResponses, unset: "-", order: 7),
        RequestSetting(
            "min_p", "X", "keep tokens at least this likely, relative to the likeliest (default 0: all)",
            .number(\.minP, NumberRange(0, to: 1), default: 0), in: Place.withResponses,
            unset: "-", order: 9),
        RequestSetting(
            "presence_penalty", "X",
            "subtracted from the logit of each token in the completion, -2 to 2 (default 0)",
            .number(\.presencePenalty, NumberRange(-2, to: 2), default: 0), order: 2),
        RequestSetting(
            "frequency_penalty", "X",
            "subtracted from a token's logit for each time it is in the completion, -2 to 2 (default 0)",
            .number(\.frequencyPenalty, NumberRange(-2, to: 2), default: 0), order: 3),
        RequestSetting(
            "repetition_penalty", "X",
            "divides positive logits of tokens in prompt or completion, multiplies negative ones "
                + "(default 1: none)",
            // Hugging Face has no upper limit; a larger number is a mistake.
            .number(\.repetitionPenalty, NumberRange(above: 0, to: 100), default: 1),
            in: Place.withResponses, order: 4),
        RequestSetting(
            "no_repeat_ngram_size", "N",
            "no sequence of N tokens is repeated, the prompt's included (default 0: off)",
            .int(\.noRepeatNgramSize, 0...Int.max, default: 0), in: Place.withResponses, order: 5,
            formConflict: "a constrained answer may have to repeat tokens"),
        RequestSetting(
            "logit_bias", "ID=X",
            "added to the logit of token ID, -100 to 100; may be repeated (a map in a job file)",
            .bias(\.logitBias, NumberRange(-100, to: 100)), order: 1,
            chatHelp: "added to the logit of token ID, -100 to 100; may be repeated"),
        RequestSetting(
            "seed", "N", "seed of the random streams; a line's own replaces it (default 0)",
            .int(\.seed, Int.min...Int.max, default: 0), for: [.generate, .choose], precedence: .line,
            // The random stream depends on it.
            unset: "0", changesOutcomeOf: [], order: 10,
            chatHelp: "the same conversation then has the same answers (default: another one for each answer)"
        ),
        RequestSetting(
            "stop", "TEXT", "a string, or a list of them, that ends a completion; a line may add its own",
            .texts(\.stop, problem: StopSet.problem), precedence: .both, unset: "[]",
            formConflict: "a cut answer would break the constraint",
            chatHelp: "a string that ends an answer; may be repeated"),
        RequestSetting(
            "min_tokens", "N",
            "sampled tokens before which neither the end of sequence nor a stop string ends a completion (default 0)",
            .int(\.minTokens, 0...Int.max, default: 0),
            formConflict: "a constrained answer ends where the constraint does"),
        RequestSetting(
            "choices", "TEXT",
            "the answers to choose from, two or more: the result is the likeliest, with the probability of each; "
                + "{{ FIELD }} alone names a field with a list of them (see \"phibatch help choices\")",
            .texts(\.choices, problem: ChoiceList.settingProblem), in: [.line], for: [.choose],
            // They are in the tree of their tokens.
            changesOutcomeOf: []),
        RequestSetting(
            "samples", "N", "results for each line, each with its own random stream (default 1)",
            .int(\.samples, 1...10_000, default: 1), in: [], for: [.generate, .choose],
            changesResults: false),
        RequestSetting(
            "ignore_eos", "",
            "go on after the end of sequence, up to max_tokens; for benchmarks (default: stop there)",
            .flag(\.ignoreEndOfSequence), in: [.line, .body, .library], unset: "false",
            formConflict: "a constrained answer ends where the constraint does"),
    ]

    /// Form of answers, and what comes before them.
    package static let answers: [RequestSetting] = [
        RequestSetting(
            "indent", "N",
            "indent JSON by N spaces per level, a line for each member and item (default: no white space)",
            .int(\.indent, 0...16, default: nil), in: [], for: [.generate, .choose]),
        RequestSetting(
            "open_objects", "",
            "objects may have members that the schema doesn't name (default: only if it has additionalProperties, "
                + "patternProperties or unevaluatedProperties, or names none)",
            .flag(\.openObjects), in: []),
        RequestSetting(
            "retries", "N",
            "how many times an answer that breaks its constraint is generated again, each time with "
                + "another random stream (default \(RequestSettings.defaultRetries))",
            .int(\.retries, RequestSettings.retriesRange, default: RequestSettings.defaultRetries),
            in: [], for: [.generate, .choose], changesOutcomeOf: []),
        RequestSetting(
            "tool_choice", "auto|none|required|NAME",
            "whether the model calls tools: as it likes (the default), never, in each answer, or the one of this "
                + "name",
            .word(\.toolChoice, []), in: [.line], precedence: .line, changesOutcomeOf: []),
        RequestSetting(
            "max_tool_calls", "N", "the most calls in an answer (default: no limit)",
            .int(\.maxToolCalls, 1...128, default: nil), in: [.line], precedence: .least,
            changesOutcomeOf: []),
        RequestSetting(
            "reasoning", "separate|keep|drop",
            "the model's reasoning, between <think> and </think>: apart from the text, in it, or left out "
                + "(default separate, if the model's files say that it reasons)",
            .word(\.reasoning, RequestSettings.ReasoningUse.allCases.map(\.rawValue)), in: [.library],
            for: [.generate, .choose], changesOutcomeOf: []),
        RequestSetting(
            "max_reasoning_tokens", "N",
            "the most tokens of reasoning, 0 for none: then it is ended, and the answer follows within max_tokens "
                + "(default: no limit; three quarters of max_tokens before a constrained answer)",
            .int(\.maxReasoningTokens, 0...Int.max, default: nil), for: [.generate, .choose],
            precedence: .least, changesOutcomeOf: [],
            chatHelp: "the most tokens of reasoning, 0 for none (default: no limit)"),
        RequestSetting(
            "reasoning_effort", "none|minimal|low|medium|high",
            "the same as a share of max_tokens: none of them, an eighth, a quarter, a half or three quarters",
            .word(\.reasoningEffort, RequestSettings.reasoningEfforts.map(\.name)),
            in: [.line, .body, .library], for: [.generate, .choose], precedence: .line,
            changesOutcomeOf: []),
        RequestSetting(
            "reasoning_ending", "TEXT",
            "the sentence that ends reasoning at its limit (default \"\(RequestSettings.defaultReasoningEnding)\")",
            .word(\.reasoningEnding, []), in: [.library], for: [.generate, .choose],
            changesOutcomeOf: []),
    ]

    /// Members of results.
    package static let results: [RequestSetting] = [
        RequestSetting(
            "tokens", "", "add the completion's token ids to each result (default: leave them out)",
            .flag(\.tokens), in: [], for: [.generate, .choose, .score], unset: "false",
            changesOutcomeOf: []),
        RequestSetting(
            "logprobs", "K", "add log-probabilities of each chosen token and the K likeliest, 0 to 20",
            .int(\.logprobs, 0...20, default: nil), in: [.body], precedence: .line, unset: "-"),
    ]
}
