import BatchEngine

/// How the tokens of a completion are chosen, and when it ends.
extension JobKey {
    package static let sampling = [
        JobKey(
            "max_tokens", "N", "the most tokens of a completion; no line can exceed it (default 256)",
            result: { ResultText.value($0.maxTokens) },
            set: { job, value throws(SettingProblem) in job.maxTokens = try value.int(in: 1...Int.max) }),
        JobKey(
            "temperature", "X", "0 is greedy (default 0)",
            result: { ResultText.value($0.temperature) },
            set: { job, value throws(SettingProblem) in
                job.temperature = Float(try value.number("a number from 0 to 10") { $0 >= 0 && $0 <= 10 })
            }),
        JobKey(
            "top_p", "X", "keep the likeliest tokens that reach this probability together (default 1: all)",
            result: { ResultText.value($0.topP) },
            set: { job, value throws(SettingProblem) in
                job.topP = Float(try value.number("a number above 0, at most 1") { $0 > 0 && $0 <= 1 })
            }),
        JobKey(
            "top_k", "N", "keep the N likeliest tokens (default 0: all)",
            result: { ResultText.value($0.topK) },
            set: { job, value throws(SettingProblem) in job.topK = try value.int(in: 0...Int.max) }),
        JobKey(
            "min_p", "X", "keep tokens at least this likely, relative to the likeliest (default 0: all)",
            result: { ResultText.value($0.minP) },
            set: { job, value throws(SettingProblem) in
                job.minP = Float(try value.number("a number from 0 to 1") { $0 >= 0 && $0 <= 1 })
            }),
        JobKey(
            "presence_penalty", "X",
            "taken from the logit of each token that the completion has, -2 to 2 (default 0)",
            result: { $0.presencePenalty.map { "\($0)" } },
            set: { job, value throws(SettingProblem) in job.presencePenalty = try value.penalty() }),
        JobKey(
            "frequency_penalty", "X",
            "taken from a token's logit for each time the completion has it, -2 to 2 (default 0)",
            result: { $0.frequencyPenalty.map { "\($0)" } },
            set: { job, value throws(SettingProblem) in job.frequencyPenalty = try value.penalty() }),
        JobKey(
            "repetition_penalty", "X",
            "divides the logits of tokens that prompt or completion have; negative ones are multiplied "
                + "(default 1: none)",
            result: { $0.repetitionPenalty.map { "\($0)" } },
            set: { job, value throws(SettingProblem) in
                job.repetitionPenalty = Float(
                    try value.number("a number above 0, at most 100", where: LogitRules.isRepetitionPenalty))
            }),
        JobKey(
            "logit_bias", "ID=X",
            "added to the logit of token ID, -100 to 100; may come several times (a map in a job file)",
            kind: .list,
            result: { $0.logitBias.map(ResultText.bias) },
            set: { job, value throws(SettingProblem) in job.logitBias = try value.logitBias() }),
        JobKey(
            "seed", "N", "seed of the random streams; a line's own replaces it (default 0)",
            result: { "\($0.seed ?? 0)" },
            set: { job, value throws(SettingProblem) in job.seed = try value.int(in: Int.min...Int.max) }),
        JobKey(
            "stop", "TEXT", "a string, or a list of them, that ends a completion; a line may add its own",
            kind: .list,
            result: { ResultText.list($0.stop) },
            set: { job, value throws(SettingProblem) in
                let stops = try value.strings()
                if let problem = StopSet.problem(with: stops) {
                    throw SettingProblem(problem, line: value.line)
                }
                job.stop = stops
            }),
        JobKey(
            "samples", "N", "results for each line, each with a random stream of its own (default 1)",
            result: { "\($0.samples)" },
            set: { job, value throws(SettingProblem) in job.samples = try value.int(in: 1...10_000) }),
        JobKey(
            "ignore_eos", "",
            "go on after the end of sequence, up to max_tokens; for benchmarks (default: stop there)",
            kind: .flag,
            result: { "\($0.ignoreEndOfSequence)" },
            set: { job, value throws(SettingProblem) in job.ignoreEndOfSequence = try value.bool() }),
    ]
}
