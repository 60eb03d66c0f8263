import BatchEngine
import Foundations
import PhiModel

/// One setting of a job: the same list serves job files, command-line options and the help.
package struct JobKey: Sendable {
    package let name: String
    /// What stands for the value in the help.
    package let placeholder: String
    package let help: String
    /// May be given several times as an option; the values make a list.
    let isList: Bool
    /// The setting's value as text, if results depend on it; nil where it is not set.
    let resultValue: (@Sendable (JobSettings) -> String?)?
    let set: @Sendable (inout JobSettings, SettingValue) throws(SettingProblem) -> Void

    private init(
        _ name: String, _ placeholder: String, _ help: String, isList: Bool = false,
        result: (@Sendable (JobSettings) -> String?)? = nil,
        set: @escaping @Sendable (inout JobSettings, SettingValue) throws(SettingProblem) -> Void
    ) {
        self.name = name
        self.placeholder = placeholder
        self.help = help
        self.isList = isList
        self.resultValue = result
        self.set = set
    }

    /// `max_tokens` is `--max-tokens` on the command line.
    package var option: String { "--" + String(name.map { $0 == "_" ? "-" : $0 }) }

    package static func named(_ name: String) -> JobKey? {
        all.first { $0.name.utf8.elementsEqual(name.utf8) }
    }

    package static let all: [JobKey] = files + promptKeys + samplingKeys + resultKeys + machineKeys

    private static let files = [
        JobKey("model", "FOLDER", "model folder (required)") { job, value throws(SettingProblem) in
            job.model = try value.path()
        },
        JobKey(
            "input", "FILE", "JSONL file of prompts, a list of them, or - for stdin (required)", isList: true
        ) {
            job, value throws(SettingProblem) in job.input = try value.paths()
        },
        JobKey("output", "FILE", "JSONL file of results, or - for stdout (required)") {
            job, value throws(SettingProblem) in job.output = try value.path()
        },
    ]

    private static let promptKeys = [
        JobKey(
            "system", "TEXT", "system message, a template over the line's fields; replaces a line's own",
            result: { text($0.system) },
            set: { job, value throws(SettingProblem) in job.system = try value.string() }),
        JobKey(
            "prompt", "TEXT", "prompt: a template over the line's fields (default {{ prompt }})",
            result: { text($0.prompt ?? JobSettings.defaultPrompt) },
            set: { job, value throws(SettingProblem) in job.prompt = try value.string() }),
        JobKey(
            "chat", "BOOL",
            "use the model's chat template; false gives the prompt to the model as it is (default true)",
            result: { "\($0.chat)" },
            set: { job, value throws(SettingProblem) in job.chat = try value.bool() }),
    ]

    private static let samplingKeys = [
        JobKey(
            "max_tokens", "N", "the most tokens of a completion; no line can exceed it (default 256)",
            result: { text($0.maxTokens) },
            set: { job, value throws(SettingProblem) in job.maxTokens = try value.int(in: 1...Int.max) }),
        JobKey(
            "temperature", "X", "0 is greedy (default 0)",
            result: { text($0.temperature) },
            set: { job, value throws(SettingProblem) in
                job.temperature = Float(try value.number("a number from 0 to 10") { $0 >= 0 && $0 <= 10 })
            }),
        JobKey(
            "top_p", "X", "keep the likeliest tokens that reach this probability together (default 1: all)",
            result: { text($0.topP) },
            set: { job, value throws(SettingProblem) in
                job.topP = Float(try value.number("a number above 0, at most 1") { $0 > 0 && $0 <= 1 })
            }),
        JobKey(
            "top_k", "N", "keep the N likeliest tokens (default 0: all)",
            result: { text($0.topK) },
            set: { job, value throws(SettingProblem) in job.topK = try value.int(in: 0...Int.max) }),
        JobKey(
            "min_p", "X", "keep tokens at least this likely, relative to the likeliest (default 0: all)",
            result: { text($0.minP) },
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
            isList: true,
            result: { $0.logitBias.map(biasText) },
            set: { job, value throws(SettingProblem) in job.logitBias = try value.logitBias() }),
        JobKey(
            "seed", "N", "seed of the random streams; a line's own replaces it (default 0)",
            result: { "\($0.seed ?? 0)" },
            set: { job, value throws(SettingProblem) in job.seed = try value.int(in: Int.min...Int.max) }),
        JobKey(
            "stop", "TEXT", "a string, or a list of them, that ends a completion; a line may add its own",
            isList: true,
            result: { list($0.stop) },
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
            "ignore_eos", "BOOL",
            "go on behind the end of sequence, up to max_tokens; for benchmarks (default false)",
            result: { "\($0.ignoreEndOfSequence)" },
            set: { job, value throws(SettingProblem) in job.ignoreEndOfSequence = try value.bool() }),
    ]

    private static let resultKeys = [
        JobKey(
            "tokens", "BOOL", "add the completion's token ids to each result (default false)",
            result: { "\($0.tokens)" },
            set: { job, value throws(SettingProblem) in job.tokens = try value.bool() }),
        JobKey(
            "logprobs", "K", "add log-probabilities of each chosen token and the K likeliest, 0 to 20",
            result: { text($0.logprobs) },
            set: { job, value throws(SettingProblem) in job.logprobs = try value.int(in: 0...20) }),
        JobKey("max_failures", "N|P%", "how many lines may fail, or which share of them (default 0)") {
            job, value throws(SettingProblem) in job.maxFailures = try value.failureLimit()
        },
        JobKey(
            "keep_old", "N",
            "how many earlier outputs (and journals) stay as OUTPUT.old-1 and so on, where results go with their lines "
                + "(default 3)"
        ) {
            job, value throws(SettingProblem) in job.keepOld = try value.int(in: 0...1000)
        },
    ]

    private static let machineKeys = [
        JobKey("workers", "N", "requests that advance together, or auto (default auto)") {
            job, value throws(SettingProblem) in job.workers = try value.countOrAuto(upTo: 4096)
        },
        JobKey("threads", "N", "compute threads, or auto (default auto: the cores that this process may use)")
        {
            job, value throws(SettingProblem) in job.threads = try value.countOrAuto(upTo: 1024)
        },
        JobKey("kv_budget", "SIZE", "memory for KV caches: bytes, 4GB, 25%, or auto (default auto)") {
            job, value throws(SettingProblem) in job.kvBudget = try value.memoryBudget()
        },
        JobKey(
            "kv", "TYPE",
            "precision of KV caches: int8, f16 (twice the memory), or auto, which is int8 (default auto)",
            // Results depend on it, too; it is in the engine's identity.
            set: { job, value throws(SettingProblem) in job.kvPrecision = try value.word(CachePrecision.self)
            }),
        JobKey(
            "prefill_chunk", "N",
            "the most prompt tokens in one step, beside the others' decode (default 512)"
        ) {
            job, value throws(SettingProblem) in job.prefillChunk = try value.int(in: 1...65_536)
        },
        JobKey("checkpoint_interval", "SECONDS", "how often completions under way are saved (default 15)") {
            job, value throws(SettingProblem) in
            job.checkpointInterval = try value.number("a number of seconds from 0 to 86400") {
                $0 >= 0 && $0 <= 86_400
            }
        },
    ]
}

/// Text for `resultValue`: distinct for distinct values, nil included.
private func text<Value>(_ value: Value?) -> String { value.map { "\($0)" } ?? "-" }

private func text(_ value: String?) -> String { value.map { list([$0]) } ?? "-" }

private func biasText(_ bias: [Int32: Float]) -> String {
    bias.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
}

private func list(_ values: [String]) -> String {
    var writer = JSONWriter()
    writer.array { writer in for value in values { writer.string(value) } }
    return writer.text
}
