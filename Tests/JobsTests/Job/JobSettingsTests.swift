import BatchEngine
import FoundationShim
import Testing

@testable import BatchPipeline
@testable import Jobs

@Suite struct JobSettingsTests {
    @Test func everyKeyIsRead() throws {
        let job = try JobSettings.parse(
            """
            model: ../models/demo
            input: [a.jsonl, /data/b.jsonl, "-"]
            output: "-"
            system: You are {{ mood }}.
            prompt: |
              Say: {{ prompt }}
            chat: true
            max_tokens: 128
            temperature: 0.7
            top_p: 0.9
            top_k: 40
            min_p: 0.05
            presence_penalty: -0.5
            frequency_penalty: 2
            repetition_penalty: 1.1
            logit_bias: {15: -100, "7": 2.5}
            seed: -17
            stop: ["\\n\\n", END]
            workers: 16
            threads: auto
            max_failures: 5%
            tokens: true
            logprobs: 3
            samples: 2
            ignore_eos: true
            kv_budget: 4GB
            kv: int8
            prefill_chunk: 256
            speculate: 7
            checkpoint_interval: 2.5
            """, folder: "nowhere")
        #expect(job.model == "nowhere/../models/demo")
        #expect(job.input == ["nowhere/a.jsonl", "/data/b.jsonl", "-"])
        #expect(job.output == "-")
        #expect(job.system == "You are {{ mood }}.")
        #expect(job.prompt == "Say: {{ prompt }}\n")
        #expect(
            job.maxTokens == 128 && job.temperature == 0.7 && job.topP == 0.9 && job.topK == 40
                && job.minP == 0.05)
        #expect(
            job.presencePenalty == -0.5 && job.frequencyPenalty == 2 && job.repetitionPenalty == 1.1
                && job.logitBias == [15: -100, 7: 2.5])
        #expect(job.seed == -17 && job.stop == ["\n\n", "END"])
        #expect(job.engine.workers == 16 && job.engine.threads == nil)
        #expect(job.maxFailures == .percent(5) && job.maxFailures?.allowed(of: 39) == 1)
        #expect(
            job.tokens == true && job.logprobs == 3 && job.samples == 2 && job.ignoreEndOfSequence == true)
        #expect(job.engine.kvBudget == 4_000_000_000 && job.engine.kvPrecision == .int8)
        #expect(job.engine.prefillChunk == 256 && job.checkpointInterval == 2.5)
        #expect(job.engine.speculation == .tokens(7))
    }

    @Test func jsonIsAJobFileToo() throws {
        let job = try JobSettings.parse(
            #"{"model": "m", "input": "i", "output": "o", "stop": "\ud83d\ude00", "seed": 3}"#)
        #expect(job.stop == ["\u{1F600}"] && job.seed == 3)
    }

    @Test(arguments: [
        ("temprature: 1", 4, "Did you mean temperature?"), ("max-tokens: 1", 4, "Did you mean max_tokens?"),
        ("max_new_tokens: 1", 4, "Did you mean max_tokens?"), ("colour: red", 4, "unknown key \"colour\""),
        ("max_tokens: 1.5", 4, "max_tokens must be"),
        ("max_tokens: \"64\"", 4, "but is \"64\""),
        ("max_tokens: 99999999999999999999", 4, "max_tokens must be"), ("max_tokens:", 4, "but is nothing"),
        ("temperature: -1", 4, "temperature must be"), ("temperature: warm", 4, "but is warm"),
        ("temperature: .inf", 4, "but is .inf"), ("top_p: 0", 4, "top_p must be"),
        ("top_k: -1", 4, "top_k must be"), ("min_p: 1.5", 4, "min_p must be"),
        ("presence_penalty: 2.5", 4, "presence_penalty must be"),
        ("frequency_penalty: -3", 4, "frequency_penalty must be"),
        ("repetition_penalty: 0", 4, "repetition_penalty must be"),
        ("logit_bias: 5", 4, "logit_bias must be a map"), ("logit_bias: [\"5=1\"]", 4, "but is a list"),
        ("logit_bias:\n  5: 1\n  the: 2", 6, "has the key the"),
        ("logit_bias:\n  5: 1\n  -6: 2", 6, "has the key -6"),
        ("logit_bias:\n  5: 1\n  6: 101", 6, "101 for 6"), ("logit_bias: {5: [1]}", 4, "but is a list"),
        ("logit_bias:\n  5: 1\n  \"5\": 2", 5, "more than once"), ("seed: x", 4, "seed must be"),
        ("seed: 18446744073709551615", 4, "from -9223372036854775808 to 9223372036854775807, but is"),
        ("stop: 5", 4, "stop must be"), ("stop:\n  - a\n  - 5", 6, "put it in quotes"),
        ("stop: \"\"", 4, "stop holds an empty string"), ("system: 42", 4, "put it in quotes"),
        ("system: {a: b}", 4, "but is a mapping"), ("workers: 0", 4, "workers must be"),
        ("threads: many", 4, "threads must be"), ("max_failures: -1", 4, "max_failures must be"),
        ("max_failures: 101%", 4, "max_failures must be"), ("tokens: yes", 4, "tokens must be"),
        ("logprobs: 21", 4, "logprobs must be"), ("samples: 0", 4, "samples must be"),
        ("kv_budget: lots", 4, "kv_budget must be"), ("kv: int5", 4, "kv must be one of"),
        ("prefill_chunk: 0", 4, "prefill_chunk must be"), ("speculate: yes", 4, "speculate must be"),
        ("speculate: 25", 4, "speculate must be"),
        ("checkpoint_interval: -1", 4, "checkpoint_interval must be"),
        ("seed: [1", 4, "is not valid YAML"), ("[a]: b", 4, "a plain word"),
    ])
    func errorsNameLineAndKey(text: String, line: Int, word: String) {
        let message = JobSettings.problem(text)
        #expect(message.hasPrefix("job.yaml:\(line): ") && message.contains(word), "\(message)")
    }

    private func problem(ofFile yaml: String) -> String {
        do {
            _ = try JobSettings.parse(yaml)
            return ""
        } catch { return "\(error)" }
    }

    @Test func missingKeysAndOddFilesAreNamed() {
        #expect(problem(ofFile: "input: a\noutput: b").contains("model is missing"))
        #expect(problem(ofFile: "").contains("is empty"))
        #expect(problem(ofFile: "- a").contains("must be a mapping"))
        #expect(problem(ofFile: "just text").contains("must be a mapping"))
        #expect(problem(ofFile: "model: m\ninput: x\noutput: ./x").contains("overwrite the input"))
        #expect(
            problem(ofFile: "model: m\ninput: [\"-\", \"-\"]\noutput: x").contains("stdin (-) more than once")
        )
        #expect(problem(ofFile: "model: m\n--- \nmodel: n").contains("not valid YAML"))
        #expect(JobSettings.problem("chat: false\nsystem: x").contains("have no place"))
    }

    @Test func aLargeFileIsRefused() {
        #expect(problem(ofFile: "a: " + String(repeating: "x", count: 2 << 20)).contains("too large"))
    }

    @Test func optionsReplaceWhatTheFileSays() throws {
        let job = try JobSettings.sample(
            "max_tokens: 128\nstop: a\nchat: false\ntokens: true",
            options: [
                "max_tokens": ["64"], "input": ["-"], "stop": ["x", "5"], "prompt": ["--odd {{ prompt }}"],
                "logit_bias": ["5=-100", "7=2.5"], "presence_penalty": ["-1"], "chat": ["true"],
            ])
        #expect(job.logitBias == [5: -100, 7: 2.5] && job.presencePenalty == -1)
        #expect(job.maxTokens == 64 && job.input == ["-"] && job.stop == ["x", "5"])
        #expect(job.prompt == "--odd {{ prompt }}" && job.output == "jobs/out.jsonl")
        #expect(job.chat && job.tokens == true)
    }

    @Test func optionsAloneMakeAJob() throws {
        let job = try JobSettings.load(
            file: nil,
            options: WrittenSetting.all([
                "model": ["m"], "input": ["a.jsonl"], "output": ["b.jsonl"], "kv_budget": ["25%"],
            ]))
        #expect(job.model == "m" && job.input == ["a.jsonl"])
        #expect(job.engine.kvBudget.map(UInt64.init) == ProcessInfo.processInfo.physicalMemory / 4)
        #expect(
            throws: UserError(
                .usage, "model is missing; give it in the job file (`model: ...`) or as --model.")
        ) {
            try JobSettings.load(file: nil)
        }
    }

    @Test func wrongOptionsAreNamed() {
        let problem = { JobSettings.problem("", $0) }
        #expect(problem(["seed": ["1", "2"]]) == "--seed is given more than once.")
        let wrong = [("5", "ID=X"), ("5=1=2", "5=1=2"), ("the=1", "the key the"), ("5=200", "200 for 5")]
        for (value, word) in wrong {
            let found = problem(["logit_bias": [value]])
            #expect(found.hasPrefix("--logit-bias must be ") && found.contains(word), "\(found)")
        }
        #expect(problem(["logit_bias": ["5=1", "5=1"]]).contains("the token id 5 more than once"))
        #expect(problem(["top_p": ["2"]]).hasPrefix("--top-p must be "))
    }

    @Test func missingJobFileIsMissingInput() {
        #expect(throws: UserError(.missingInput, at: "no/such.yaml", "there is no such job file.")) {
            try JobSettings.load(file: "no/such.yaml")
        }
    }

    /// The ranges are the same for values that a program sets.
    @Test func settingsOfProgramsAreChecked() throws {
        let wrong: [(name: String, change: (inout JobSettings) -> Void)] = [
            ("temperature", { $0.temperature = .nan }), ("workers", { $0.engine.workers = 5000 }),
            ("checkpoint_interval", { $0.checkpointInterval = -1 }), ("samples", { $0.samples = 0 }),
            ("keep_old", { $0.keepOld = -1 }), ("rows", { $0.rows = 0 }),
        ]
        try JobSettings().checkValues()
        for (name, change) in wrong {
            var job = JobSettings()
            change(&job)
            #expect { try job.checkValues() } throws: { "\($0)".hasPrefix(name + " ") }
        }
    }

    /// What results depend on must show in the fingerprint; what they don't must not.
    @Test func resultSettingsCoverWhatResultsDependOn() throws {
        let base = try JobSettings.sample("").resultSettings.map { "\($0)" }
        for line in [
            "system: x", "prompt: x", "chat: false", "max_tokens: 1", "temperature: 1", "top_p: 0.5",
            "top_k: 1",
            "min_p: 0.5", "presence_penalty: 0", "frequency_penalty: 1", "repetition_penalty: 1.1",
            "logit_bias: {}", "seed: 1", "stop: x", "control_tokens: parse", "prefix: x", "keep: all",
            "id: x", "ignore_eos: true", "tokens: true",
            "logprobs: 0",
        ] {
            #expect(
                try JobSettings.sample(line).resultSettings.map { "\($0)" } != base, "\(line)")
        }
        for line in [
            "workers: 3", "threads: 1", "kv_budget: 1GB", "prefill_chunk: 7", "checkpoint_interval: 1",
            "max_failures: 3", "samples: 2", "kv: int4", "kv: f16", "speculate: off",
            "speculate: 3", "engine: cpu",
        ] {
            #expect(
                try JobSettings.sample(line).resultSettings.map { "\($0)" } == base, "\(line)")
        }
        #expect(
            try JobSettings.sample("logit_bias: {15: -100, 7: 2.5}").resultSettings
                .contains { $0 == ("logit_bias", "7=2.5 15=-100.0") })
    }

    /// Most settings are not among them where they are not set. (And samples is each result's own.)
    @Test func aPlainJobHasFewSettings() throws {
        #expect(
            JobSettings().resultSettings.map(\.name) == [
                "system", "chat", "control_tokens", "max_tokens", "temperature", "top_p", "top_k",
                "min_p", "seed",
                "stop", "ignore_eos", "tokens", "logprobs",
            ])
    }

    @Test func defaultsInTheHelpAreTheRealOnes() {
        let job = JobSettings()
        #expect(JobKey.named("max_tokens")?.help.contains("\(RequestSettings.defaultMaxTokens)") == true)
        #expect(JobKey.named("prefill_chunk")?.help.contains("\(job.engine.prefillChunk)") == true)
        #expect(JobKey.named("checkpoint_interval")?.help.contains("\(Int(job.checkpointInterval))") == true)
        #expect(JobKey.named("prompt")?.help.contains(JobSettings.defaultPrompt) == true)
        #expect(Set(JobKey.all.map(\.name)).count == JobKey.all.count)
    }

    /// What only the CPU engine has is no setting of MLX's.
    @Test func threadsAndPrecisionBelongToTheCPUEngine() throws {
        func problem(_ lines: String) throws -> String? {
            try JobSettings.sample(lines).engine.problem
        }
        #expect(try problem("engine: cpu\nthreads: 2\nkv: f16") == nil && problem("engine: mlx") == nil)
        for (line, name) in [("threads: 2", "threads"), ("kv: f16", "kv")] {
            let found = try problem("engine: mlx\n" + line)
            #expect(found?.hasPrefix("\(name) has no meaning with engine: mlx, as MLX ") == true)
        }
        #expect(try problem("engine: exact\nkv: f16")?.hasPrefix("kv has no meaning") == true)
    }

    @Test func automaticWorkersGrowWithTheThreads() throws {
        #expect(try JobSettings.sample("threads: 2").engine.workerCount == 32)
        #expect(try JobSettings.sample("threads: 16").engine.workerCount == 64)
        #expect(try JobSettings.sample("threads: 200").engine.workerCount == 128)
        #expect(try JobSettings.sample("threads: 16\nworkers: 5").engine.workerCount == 5)
    }
}
