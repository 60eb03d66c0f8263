import BatchEngine
import Testing

@testable import BatchPipeline
@testable import Jobs

@Suite struct JobSettingsTests {
    static let required = "model: m\ninput: in.jsonl\noutput: out.jsonl\n"

    private func problem(_ yaml: String, _ options: KeyValuePairs<String, [String]> = [:]) -> String {
        do {
            _ = try JobSettings.parse(
                yaml, name: "job.yaml", folder: "jobs", options: JobOption.all(options))
            return "no error"
        } catch { return "\(error)" }
    }

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
        #expect(job.engine.workers == .count(16) && job.engine.threads == .auto)
        #expect(job.maxFailures == .percent(5) && job.maxFailures?.allowed(of: 39) == 1)
        #expect(
            job.tokens == true && job.logprobs == 3 && job.samples == 2 && job.ignoreEndOfSequence == true)
        #expect(job.engine.kvBudget == .bytes(4_000_000_000) && job.engine.kvPrecision == .int8)
        #expect(job.engine.prefillChunk == 256 && job.checkpointInterval == 2.5)
        #expect(job.engine.speculation == .tokens(7))
    }

    @Test func jsonIsAJobFileToo() throws {
        let job = try JobSettings.parse(
            #"{"model": "m", "input": "i", "output": "o", "stop": "\ud83d\ude00", "seed": 3}"#)
        #expect(job.stop == ["\u{1F600}"] && job.seed == 3)
    }

    @Test(arguments: [
        ("temprature: 1", "job.yaml:4: unknown key \"temprature\". Did you mean temperature?"),
        ("max-tokens: 1", "job.yaml:4: unknown key \"max-tokens\". Did you mean max_tokens?"),
        ("max_new_tokens: 1", "job.yaml:4: unknown key \"max_new_tokens\". Did you mean max_tokens?"),
        ("colour: red", "job.yaml:4: unknown key \"colour\"."),
        (
            "kv_cache: off",
            "job.yaml:4: the key \"kv_cache\" was taken out: beginnings that prompts share are kept"
        ),
        ("max_tokens: 0", "job.yaml:4: max_tokens must be a whole number, 1 or more, but is 0."),
        ("max_tokens: 1.5", "job.yaml:4: max_tokens must be a whole number, 1 or more, but is 1.5."),
        ("max_tokens: \"64\"", "job.yaml:4: max_tokens must be a whole number, 1 or more, but is \"64\"."),
        (
            "max_tokens: 99999999999999999999",
            "job.yaml:4: max_tokens must be a whole number, 1 or more, but is 99999999999999999999."
        ),
        ("max_tokens:", "job.yaml:4: max_tokens must be a whole number, 1 or more, but is nothing."),
        ("temperature: -1", "job.yaml:4: temperature must be a number from 0 to 10, but is -1."),
        ("temperature: warm", "job.yaml:4: temperature must be a number from 0 to 10, but is warm."),
        ("temperature: .inf", "job.yaml:4: temperature must be a number from 0 to 10, but is .inf."),
        ("top_p: 0", "job.yaml:4: top_p must be a number above 0, at most 1, but is 0."),
        ("top_k: -1", "job.yaml:4: top_k must be a whole number, 0 or more, but is -1."),
        ("min_p: 1.5", "job.yaml:4: min_p must be a number from 0 to 1, but is 1.5."),
        ("presence_penalty: 2.5", "job.yaml:4: presence_penalty must be a number from -2 to 2, but is 2.5."),
        ("frequency_penalty: -3", "job.yaml:4: frequency_penalty must be a number from -2 to 2, but is -3."),
        (
            "repetition_penalty: 0",
            "job.yaml:4: repetition_penalty must be a number above 0, at most 100, but is 0."
        ),
        (
            "logit_bias: 5",
            "job.yaml:4: logit_bias must be a map of token ids to numbers from -100 to 100, but is 5."
        ),
        (
            "logit_bias: [\"5=1\"]",
            "job.yaml:4: logit_bias must be a map of token ids to numbers from -100 to 100, but is a list."
        ),
        (
            "logit_bias:\n  5: 1\n  the: 2",
            "job.yaml:6: logit_bias must be a map of token ids to numbers, but has the key the."
        ),
        (
            "logit_bias:\n  5: 1\n  -6: 2",
            "job.yaml:6: logit_bias must be a map of token ids to numbers, but has the key -6."
        ),
        (
            "logit_bias:\n  5: 1\n  6: 101",
            "job.yaml:6: logit_bias must be from -100 to 100 for each token id, but is 101 for 6."
        ),
        (
            "logit_bias: {5: [1]}",
            "job.yaml:4: logit_bias must be from -100 to 100 for each token id, but is a list"
        ),
        ("logit_bias:\n  5: 1\n  \"5\": 2", "job.yaml:5: the key 5 is given more than once; keep one."),
        ("seed: x", "job.yaml:4: seed must be a whole number"),
        ("stop: 5", "job.yaml:4: stop must be a string or a list of strings, but is 5."),
        (
            "stop:\n  - a\n  - 5",
            "job.yaml:6: stop must be a string or a list of strings; its element 5 is no string (put it in quotes)."
        ),
        ("stop: \"\"", "job.yaml:4: stop holds an empty string, which would stop at once."),
        ("system: 42", "job.yaml:4: system must be a string (put it in quotes), but is 42."),
        ("system: {a: b}", "job.yaml:4: system must be a string, but is a mapping."),
        ("workers: 0", "job.yaml:4: workers must be a whole number from 1 to 4096, or auto, but is 0."),
        ("threads: many", "job.yaml:4: threads must be a whole number from 1 to 1024, or auto, but is many."),
        (
            "max_failures: -1",
            "job.yaml:4: max_failures must be a whole number, 0 or more, or a percentage such as 5%, but is -1."
        ),
        (
            "max_failures: 101%",
            "job.yaml:4: max_failures must be a whole number, 0 or more, or a percentage such as 5%, but is 101%."
        ),
        ("tokens: yes", "job.yaml:4: tokens must be true or false, but is yes."),
        ("logprobs: 21", "job.yaml:4: logprobs must be a whole number from 0 to 20, but is 21."),
        ("samples: 0", "job.yaml:4: samples must be a whole number from 1 to 10000, but is 0."),
        (
            "kv_budget: lots",
            "job.yaml:4: kv_budget must be a size in bytes, such as 4GB or 512MiB, a share such as 25%, or auto, but is lots."
        ),
        ("kv: int5", "job.yaml:4: kv must be one of auto, int8, int4, f16, but is int5."),
        ("prefill_chunk: 0", "job.yaml:4: prefill_chunk must be a whole number from 1 to 65536, but is 0."),
        (
            "speculate: yes",
            "job.yaml:4: speculate must be auto, off, or a whole number from 1 to 24, but is yes."
        ),
        (
            "speculate: 25",
            "job.yaml:4: speculate must be auto, off, or a whole number from 1 to 24, but is 25."
        ),
        (
            "checkpoint_interval: -1",
            "job.yaml:4: checkpoint_interval must be a number of seconds from 0 to 86400, but is -1."
        ),
        (
            "chat: false\nsystem: x",
            "job.yaml: system has no place without a chat template; put it into prompt, or drop chat: false."
        ),
        ("seed: 1\nseed: 2", "job.yaml:4: the key seed is given more than once; keep one."),
        ("seed: [1", "job.yaml:4: is not valid YAML"),
        ("[a]: b", "job.yaml:4: a key must be a plain word, like `model`."),
        ("? [a]\n: b", "job.yaml:4: is not valid YAML: a text can't begin with ?"),
    ])
    func errorsNameLineAndKey(line: String, expected: String) {
        let message = problem(Self.required + line)
        #expect(message.hasPrefix(expected), "\(message)")
    }

    @Test func missingKeysAndOddFilesAreNamed() {
        #expect(problem("input: a\noutput: b").contains("model is missing"))
        #expect(problem("").contains("is empty"))
        #expect(problem("- a").contains("must be a mapping"))
        #expect(problem("just text").contains("must be a mapping"))
        #expect(problem("model: m\ninput: x\noutput: ./x").contains("overwrite the input"))
        #expect(problem("model: m\ninput: [\"-\", \"-\"]\noutput: x").contains("stdin (-) more than once"))
        #expect(problem("model: m\n--- \nmodel: n").contains("not valid YAML"))
    }

    @Test func aliasBombsAreRefusedAtOnce() {
        var yaml = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
        for level in 1...9 {
            let aliases = Array(repeating: "*a\(level - 1)", count: 9).joined(separator: ", ")
            yaml += "a\(level): &a\(level) [\(aliases)]\n"
        }
        yaml += "? *a9\n: x\n"
        #expect(problem(yaml).contains("YAML aliases"))
        #expect(problem(Self.required + "system: &s hello\nprompt: *s") == "no error")
        #expect(problem(String(repeating: "[", count: 100_000)).contains("not valid YAML"))
        #expect(problem("a: " + String(repeating: "x", count: 2 << 20)).contains("too large"))
    }

    @Test func optionsReplaceWhatTheFileSays() throws {
        let job = try JobSettings.parse(
            Self.required + "max_tokens: 128\nstop: a\nchat: false\ntokens: true", folder: "jobs",
            options: JobOption.all([
                "max_tokens": ["64"], "input": ["-"], "stop": ["x", "5"], "prompt": ["--odd {{ prompt }}"],
                "logit_bias": ["5=-100", "7=2.5"], "presence_penalty": ["-1"], "chat": ["true"],
            ]))
        #expect(job.logitBias == [5: -100, 7: 2.5] && job.presencePenalty == -1)
        #expect(job.maxTokens == 64 && job.input == ["-"] && job.stop == ["x", "5"])
        #expect(job.prompt == "--odd {{ prompt }}" && job.output == "jobs/out.jsonl")
        #expect(job.chat && job.tokens == true)
    }

    @Test func optionsAloneMakeAJob() throws {
        let job = try JobSettings.load(
            file: nil,
            options: JobOption.all([
                "model": ["m"], "input": ["a.jsonl"], "output": ["b.jsonl"], "kv_budget": ["25%"],
            ]))
        #expect(job.model == "m" && job.input == ["a.jsonl"] && job.engine.kvBudget == .share(0.25))
        #expect(
            throws: JobError(
                .usage, "model is missing; give it in the job file (`model: ...`) or as --model.")
        ) {
            try JobSettings.load(file: nil)
        }
    }

    @Test func wrongOptionsAreNamed() {
        let file = Self.required
        #expect(problem(file, ["seed": ["1", "2"]]) == "--seed is given more than once.")
        for (value, expected) in [
            ("5", "--logit-bias must be ID=X, a token id and a number from -100 to 100, but is 5."),
            ("5=1=2", "--logit-bias must be ID=X, a token id and a number from -100 to 100, but is 5=1=2."),
            ("the=1", "--logit-bias must be a map of token ids to numbers, but has the key the."),
            ("5=200", "--logit-bias must be from -100 to 100 for each token id, but is 200 for 5."),
        ] {
            #expect(problem(file, ["logit_bias": [value]]) == expected)
        }
        #expect(
            problem(file, ["logit_bias": ["5=1", "5=1"]])
                == "--logit-bias has the token id 5 more than once.")
        #expect(problem(file, ["top_p": ["2"]]) == "--top-p must be a number above 0, at most 1, but is 2.")
    }

    @Test func missingJobFileIsMissingInput() {
        #expect(throws: JobError(.missingInput, at: "no/such.yaml", "there is no such job file.")) {
            try JobSettings.load(file: "no/such.yaml")
        }
    }

    /// The ranges are the same for values that a program sets.
    @Test func settingsOfProgramsAreChecked() throws {
        func problem(_ change: (inout JobSettings) -> Void) -> String? {
            var job = JobSettings()
            change(&job)
            do { try job.checkValues() } catch { return "\(error)" }
            return nil
        }
        #expect(problem { _ in } == nil)
        #expect(problem { $0.maxTokens = 0 } == "max_tokens must be a whole number, 1 or more, but is 0.")
        #expect(
            problem { $0.temperature = .nan } == "temperature must be a number from 0 to 10, but is nan.")
        #expect(problem { $0.topP = 0 } == "top_p must be a number above 0, at most 1, but is 0.0.")
        #expect(
            problem { $0.engine.workers = .count(5000) }
                == "workers must be a whole number from 1 to 4096, but is 5000.")
        #expect(
            problem { $0.checkpointInterval = -1 }
                == "checkpoint_interval must be a number of seconds from 0 to 86400, but is -1.0.")
        #expect(
            problem { $0.logitBias = [7: 101, 3: 1] }
                == "logit_bias must be token ids, each with a number from -100 to 100, but is 101.0 for 7.")
        #expect(problem { $0.repetitionPenalty = 0 } != nil && problem { $0.presencePenalty = 3 } != nil)
        #expect(problem { $0.stop = [""] } != nil && problem { $0.samples = 0 } != nil)
    }

    /// What results depend on must show in the fingerprint; what they don't must not.
    @Test func resultSettingsCoverWhatResultsDependOn() throws {
        let base = try JobSettings.parse(Self.required).resultSettings.map { "\($0)" }
        for line in [
            "system: x", "prompt: x", "chat: false", "max_tokens: 1", "temperature: 1", "top_p: 0.5",
            "top_k: 1",
            "min_p: 0.5", "presence_penalty: 0", "frequency_penalty: 1", "repetition_penalty: 1.1",
            "logit_bias: {}", "seed: 1", "stop: x", "control_tokens: parse", "prefix: x", "keep: all",
            "id: x", "ignore_eos: true", "tokens: true",
            "logprobs: 0",
        ] {
            #expect(
                try JobSettings.parse(Self.required + line).resultSettings.map { "\($0)" } != base, "\(line)")
        }
        for line in [
            "workers: 3", "threads: 1", "kv_budget: 1GB", "prefill_chunk: 7", "checkpoint_interval: 1",
            "max_failures: 3", "samples: 2", "kv: int4", "kv: f16", "speculate: off",
            "speculate: 3", "engine: cpu",
        ] {
            #expect(
                try JobSettings.parse(Self.required + line).resultSettings.map { "\($0)" } == base, "\(line)")
        }
        #expect(
            try JobSettings.parse(Self.required + "logit_bias: {15: -100, 7: 2.5}").resultSettings
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
            try JobSettings.parse(Self.required + lines).engine.problem
        }
        #expect(try problem("engine: cpu\nthreads: 2\nkv: f16") == nil && problem("engine: mlx") == nil)
        for (line, name) in [("threads: 2", "threads"), ("kv: f16", "kv")] {
            let found = try problem("engine: mlx\n" + line)
            #expect(found?.hasPrefix("\(name) has no meaning with engine: mlx, as MLX ") == true)
        }
    }

    @Test func automaticWorkersGrowWithTheThreads() throws {
        #expect(try JobSettings.parse(Self.required + "threads: 2").engine.workerCount == 32)
        #expect(try JobSettings.parse(Self.required + "threads: 16").engine.workerCount == 64)
        #expect(try JobSettings.parse(Self.required + "threads: 200").engine.workerCount == 128)
        #expect(try JobSettings.parse(Self.required + "threads: 16\nworkers: 5").engine.workerCount == 5)
    }
}
