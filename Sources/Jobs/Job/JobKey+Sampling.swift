import BatchEngine

/// How the tokens of a completion are chosen, and when it ends.
extension JobKey {
    package static let sampling = [
        JobKey(
            "max_tokens", "N", "the most tokens of a completion; no line can exceed it (default 256)",
            .int(\.maxTokens, JobSettings.maxTokensRange), effect: .always()),
        JobKey(
            "temperature", "X", "0 is greedy (default 0)",
            .number(\.temperature, SamplingParameters.temperatureRange), effect: .always()),
        JobKey(
            "top_p", "X", "keep the likeliest tokens that reach this probability together (default 1: all)",
            .number(\.topP, SamplingParameters.topPRange), effect: .always()),
        JobKey(
            "top_k", "N", "keep the N likeliest tokens (default 0: all)",
            .int(\.topK, SamplingParameters.topKRange), effect: .always()),
        JobKey(
            "min_p", "X", "keep tokens at least this likely, relative to the likeliest (default 0: all)",
            .number(\.minP, SamplingParameters.minPRange), effect: .always()),
        JobKey(
            "presence_penalty", "X",
            "taken from the logit of each token that the completion has, -2 to 2 (default 0)",
            .number(\.presencePenalty, LogitRules.penaltyRange), effect: .ifSet),
        JobKey(
            "frequency_penalty", "X",
            "taken from a token's logit for each time the completion has it, -2 to 2 (default 0)",
            .number(\.frequencyPenalty, LogitRules.penaltyRange), effect: .ifSet),
        JobKey(
            "repetition_penalty", "X",
            "divides the logits of tokens that prompt or completion have; negative ones are multiplied "
                + "(default 1: none)",
            .number(\.repetitionPenalty, LogitRules.repetitionPenaltyRange), effect: .ifSet),
        JobKey(
            "logit_bias", "ID=X",
            "added to the logit of token ID, -100 to 100; may come several times (a map in a job file)",
            kind: .list, .logitBias, effect: .ifSet),
        JobKey(
            "seed", "N", "seed of the random streams; a line's own replaces it (default 0)",
            .int(\.seed, Int.min...Int.max), effect: .always(unset: "0")),
        JobKey(
            "stop", "TEXT", "a string, or a list of them, that ends a completion; a line may add its own",
            kind: .list, .stops, effect: .always()),
        JobKey(
            "choices", "TEXT",
            "the answers to choose from, two or more: the result is the likeliest, with the probability of each; "
                + "{{ FIELD }} alone is a field that has a list of them (\"phibatch help choices\" says more)",
            kind: .list, .choices, effect: .ifSet),
        JobKey(
            "samples", "N", "results for each line, each with a random stream of its own (default 1)",
            .int(\.samples, 1...10_000)),
        JobKey(
            "ignore_eos", "",
            "go on after the end of sequence, up to max_tokens; for benchmarks (default: stop there)",
            kind: .flag, .flag(\.ignoreEndOfSequence), effect: .always()),
    ]
}
