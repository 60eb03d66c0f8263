import BatchEngine
import Foundation
import JSON
import PhiModel
import TestSupport
import Testing

@testable import BatchPipeline
@testable import Jobs

/// Jobs that take answers from a store: the same bytes as without one.
@Suite struct AnswerReuseTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private static func run(
        _ job: JobSettings, _ folder: TestFolder, model: ScriptedModel = ScriptedModel(),
        identity: [UInt8] = [1]
    ) throws -> (outcome: RunOutcome, lines: [String], rows: Int) {
        let store = try AnswerStore(folder.path + "/answers")
        defer { store.close() }
        let results = MemoryStore()
        results.samples = job.sampleCount
        let outcome = try Runner(
            job: job, model: model, store: results, answers: StoredAnswers(store, model: identity)
        ).run()
        #expect(model.faults.isEmpty && model.liveSequences == 0 && store.damaged == 0)
        return (outcome, (results.output ?? []).map(withoutTiming), model.rows)
    }

    /// Without a store, with one that is empty, and with all that is in it then.
    /// - Returns: how many answers there are.
    @discardableResult
    private static func compare(_ job: JobSettings, _ folder: TestFolder) throws -> Int {
        let (outcome, expected) = try ScriptedRun.run(job)
        let first = try run(job, folder)
        #expect(first.lines == expected && first.rows > 0)
        #expect(first.outcome.statistics.answersTaken == 0)
        let added = first.outcome.statistics.answersAdded
        for workers in [1, 9, 64] {
            var job = job
            job.engine.workers = workers
            let second = try run(job, folder)
            #expect(second.lines == expected && second.rows == 0)
            let (one, other) = (second.outcome.statistics, outcome.statistics)
            #expect(one.answersTaken == added && one.answersAdded == 0)
            #expect(one.done == other.done && one.copied == one.done && one.completionTokens == 0)
            #expect(one.failed == other.failed && one.finishReasons == other.finishReasons)
            #expect(one.tally == other.tally && one.turnedDown == other.turnedDown)
        }
        return added
    }

    @Test(arguments: [Float(0), 0.8]) func equalJobsTakeThem(temperature: Float) throws {
        let prompts = ScriptedRun.prompts(60)
        let path = try folder.write(prompts, to: "in.jsonl")
        let job = ScriptedRun.job(path) { $0.temperature = temperature }
        #expect(try Self.compare(job, folder) == 60)
        // Under other ids there are other random streams.
        let other = try folder.write(prompts.replacing("\"line-", with: "\"other-"), to: "other.jsonl")
        let renamed = ScriptedRun.job(other) { $0.temperature = temperature }
        let (expected, again) = (try ScriptedRun.run(renamed).lines, try Self.run(renamed, folder))
        #expect(again.lines == expected)
        #expect(again.outcome.statistics.answersTaken == (temperature == 0 ? 60 : 0))
        // Another model answers for itself.
        let foreign = try Self.run(job, folder, identity: [2])
        #expect(foreign.outcome.statistics.answersTaken == 0 && foreign.outcome.statistics.answersAdded == 60)
    }

    @Test func samplesHaveTheirOwn() throws {
        let path = try folder.write(ScriptedRun.prompts(12), to: "in.jsonl")
        #expect(try Self.compare(ScriptedRun.job(path) { $0.samples = 3 }, folder) == 36)
        let more = ScriptedRun.job(path) { $0.samples = 5 }
        let found = try Self.run(more, folder)
        #expect(found.lines == (try ScriptedRun.run(more).lines))
        #expect(found.outcome.statistics.answersTaken == 36 && found.outcome.statistics.answersAdded == 24)
    }

    @Test func scoresAndChoices() throws {
        let scored = [#""one""#, #"["one","two"]"#, #"["two","three"]"#].map {
            "{\"prompt\":\"p\",\"completion\":\($0)}\n"
        }
        var path = try folder.write(scored.joined(), to: "scores.jsonl")
        #expect(try Self.compare(.test(input: [path]) { $0.task = .score }, folder) == 3)
        let lines = (0..<30).map { "{\"id\":\"\($0)\",\"prompt\":\"p \($0)\"}\n" }
        path = try folder.write(lines.joined(), to: "choices.jsonl")
        let choosing = JobSettings.test(input: [path]) { job in
            job.choices = ["yes", "no", "yes and no"]
            job.temperature = 8
            job.samples = 2
        }
        #expect(try Self.compare(choosing, folder) == 30)
    }

    /// Rows go through their steps as they would.
    @Test func steps() throws {
        let path = try folder.write(
            (0..<40).map { "{\"id\":\"\($0)\",\"topic\":\"thing \($0)\"}\n" }.joined(), to: "in.jsonl")
        var job = JobSettings.test(input: [path])
        (job.temperature, job.maxTokens, job.seed) = (0.9, 24, 7)
        job.steps = [
            .named("question") { $0.settings.prompt = "Ask about {{ topic }}." },
            .named("judge") { step in
                step.settings.prompt = "{{ question.text }}"
                step.settings.choices = ["yes", "no"]
                step.accept = "judge.text == 'yes'"
                step.tries = 2
            },
            .named("likely") { step in
                step.settings.task = .score
                step.settings.prompt = "{{ judge.text }}"
                step.settings.completion = "{{ question.text }}."
            },
        ]
        let count = try Self.compare(job, folder)
        #expect(count > 80)
        // A changed step is computed, and no other.
        job.steps[2].settings.completion = "{{ question.text }}!"
        let found = try Self.run(job, folder)
        #expect(found.lines == (try ScriptedRun.run(job).lines))
        let accepted = found.outcome.statistics.tally[.accepted, default: 0]
        #expect(found.outcome.statistics.answersAdded == accepted && accepted > 9)
    }

    /// Forms of answers, of which some are turned down and generated anew.
    @Test func judgedAnswers() throws {
        let lines = (0..<40).map { "{\"id\":\"l\($0)\",\"prompt\":\"p \($0)\"}\n" }
        let path = try folder.write(lines.joined(), to: "in.jsonl")
        let pairs: JSONValue = [
            "type": "array", "items": ["enum": [1, 2]], "minItems": 2, "maxItems": 2, "uniqueItems": true,
        ]
        let job = JobSettings.test(input: [path]) { job in
            job.schema = .schema(pairs)
            (job.maxTokens, job.temperature, job.retries) = (12, 0.9, 1)
            job.maxFailures = .percent(100)
        }
        #expect(try Self.compare(job, folder) > 40)
        let (outcome, _, _) = try Self.run(job, folder)
        #expect(outcome.statistics.turnedDown > 0 && outcome.statistics.failed > 0)
    }

    @Test func faultsAreNotKept() throws {
        let path = try folder.write(ScriptedRun.prompts(40), to: "in.jsonl")
        let job = ScriptedRun.job(path) { $0.maxFailures = .percent(100) }
        let model = ScriptedModel()
        model.isFaulty = { tokens, _ in tokens.count % 11 == 3 }
        let first = try Self.run(job, folder, model: model)
        let failed = first.outcome.statistics.failed
        #expect(failed > 5 && first.outcome.statistics.answersAdded == 40 - failed)
        let second = try Self.run(job, folder)
        #expect(second.outcome.statistics.answersAdded == failed)
        #expect(second.lines == (try ScriptedRun.run(job).lines))
    }

    // MARK: What tells requests from others

    private func variants(of base: JobSettings) -> [(name: String, job: JobSettings)] {
        // What is said of reasoning and calls is in the goal: ReasoningTests looks at that.
        let others: Set = [
            "reasoning", "max_reasoning_tokens", "reasoning_effort", "reasoning_ending", "tool_choice",
            "max_tool_calls",
        ]
        let rows = RequestSetting.all.filter { !others.contains($0.name) }.map { setting in
            var job = base
            switch setting.kind {
            case .int(let path, let range, let unset):
                let value = unset.map { $0 + 1 } ?? range.lowerBound + 1
                job.request[keyPath: path] = min(value, range.upperBound)
            case .number(let path, _, _): job.request[keyPath: path] = 0.5
            case .flag(let path): job.request[keyPath: path] = true
            case .word(let path, let words): job.request[keyPath: path] = words.last ?? "zz"
            case .texts(let path, _): job.request[keyPath: path] = ["zz", "yy"]
            case .bias(let path, _): job.request[keyPath: path] = [258: 1]
            }
            return (name: setting.name, job: job)
        }
        let forms: [(name: String, set: (inout JobSettings) -> Void)] = [
            ("response_format", { $0.responseFormat = .object }),
            ("schema", { $0.schema = .schema(["type": "integer"]) }),
            ("regex", { $0.regex = "[a-z ]+" }), ("grammar", { $0.grammar = "root ::= [a-z]+" }),
            ("json_mode", { $0.forms["json_mode"] = .schema(["type": "array"]) }),
            ("tools", { $0.forms["tools"] = ToolsRule(ToolJobTests.tools)?.form }),
        ]
        #expect(forms.map(\.name) == AnswerKey.names)
        return rows
            + forms.map { name, set in
                var job = base
                set(&job)
                return (name, job)
            }
    }

    /// Goes through the table, so that it meets each new setting: another value is another request, unless its row says
    /// that the model's answer doesn't depend on it.
    @Test func eachSettingCounts() throws {
        let path = try folder.write("{\"id\":\"a\",\"prompt\":\"ask\"}\n", to: "in.jsonl")
        let base = JobSettings.test(input: [path]) { job in
            (job.temperature, job.maxTokens, job.ignoreEndOfSequence) = (0.8, 20, nil)
        }
        #expect(try Self.run(base, folder).outcome.statistics.answersAdded == 1)
        let variants = variants(of: base)
        var same: Set<String> = []
        for (name, job) in variants {
            let found = try Self.run(job, folder).outcome.statistics
            #expect(found.failed == 0, "\(name)")
            if found.answersTaken > 0 { same.insert(name) }
            #expect(found.answersTaken + found.answersAdded == job.sampleCount, "\(name)")
        }
        #expect(same == ["tokens", "retries", "samples"])
        // All are there, each as it is.
        for (name, job) in variants {
            let found = try Self.run(job, folder)
            #expect(found.rows == 0, "\(name)")
            #expect(found.lines == (try ScriptedRun.run(job).lines), "\(name)")
        }
    }

    @Test func modelsAndRopeFactorsCount() throws {
        for rope in [RopeFactors.auto, .short, .long] {
            var request = try MadeAnswer(1).request
            request.rope = rope
            let other = try #require(RequestKey(request, model: [7]))
            #expect((try MadeAnswer(1).key == other) == (rope == .auto))
        }
        // The job's settings are not in what tells models.
        func model(_ parts: [(String, String)]) -> [UInt8] { RunFingerprint(parts).model }
        let parts = [("model.config", "c"), ("job.seed", "1"), ("engine.kv", "int8")]
        #expect(model(parts) == model([parts[0], ("job.seed", "2"), parts[2]]))
        for changed in [
            ("model.config", "d"), ("model.adapter a", "c"), ("tokenizer.t", "c"), ("engine.kv", "f16"),
        ] {
            #expect(model(parts) != model([parts[0], parts[1], changed]))
        }
    }

    /// Where nobody says what a request depends on, nothing is looked up.
    @Test func unknownGoalsAreLeftOut() throws {
        var request = try MadeAnswer(1).request
        request.asked = nil
        #expect(RequestKey(request, model: []) == nil)
        struct Own: RequestKind {
            let maxTokens = 1
            let weight = 1
            func decoding(after prompt: [Int32]) -> any Decoding { Scoring([1]).decoding(after: prompt) }
        }
        request = Request(prompt: [1], kind: Own())
        request.asked = []
        #expect(RequestKey(request, model: []) == nil)
    }

    /// What doesn't fit the request is no answer, whatever sums say.
    @Test func outcomesThatCannotBeAreRefused() throws {
        let model = ScriptedModel()
        let kind = Sampling(
            maxTokens: 3, sampling: SamplingParameters(), stream: 0, endOfSequence: [0],
            stops: StopSet(["STOP"]), text: model.makeTextStream())
        func isRight(_ tokens: [Int32], _ reason: FinishReason, notes: [String] = []) -> Bool {
            kind.decoding(
                SavedDecoding(tokens: tokens, notes: notes, finishReason: reason), after: [1],
                vocabularySize: model.limits.vocabularySize)?.isDone == true
        }
        #expect(isRight([261, 261], .stop) && isRight([], .stop) && isRight([261, 261, 261], .length))
        #expect(isRight([261, 259], .stopSequence) && isRight([261, 265, 266], .stopSequence))
        #expect(!isRight([261, 261], .length) && !isRight([261, 261, 261], .stop))
        #expect(!isRight([261, 261, 261, 261], .length) && !isRight([259, 261], .stopSequence))
        #expect(!isRight([261, 0], .stop) && !isRight([-1], .stop) && !isRight([999_999], .stop))
        #expect(!isRight([261], .stop, notes: ["x"]) && !isRight([261], .stopSequence))
        let answer = try MadeAnswer(1)
        for count in [0, 2, 4] {
            let outcome = SavedDecoding(logprobs: Array(repeating: -1, count: count))
            #expect(answer.request.kind.decoding(outcome, after: [1], vocabularySize: 9) == nil)
        }
    }

    // MARK: Interruptions

    /// Runs that are stopped or killed, over one store: what was in memory of it is lost with a kill.
    @Test(arguments: [1, 2, 3, 4]) func stoppedRunsEndWithTheSameResults(seed: UInt64) throws {
        let path = try folder.write(ScriptedRun.prompts(50), to: "in.jsonl")
        let (_, expected) = try ScriptedRun.run(ScriptedRun.job(path))
        var random = FixedRandom(seed)
        var (runs, taken) = (0, 0)
        for _ in 0..<2 {
            let results = MemoryStore()
            while results.output == nil, runs < 400 {
                let (model, flag, crashes, workers) = ScriptedRun.unlucky(&random)
                let job = ScriptedRun.job(path) { $0.engine.workers = workers }
                let store = try AnswerStore(folder.path + "/answers")
                do {
                    taken += try Runner(
                        job: job, model: model, store: results, stopFlag: flag,
                        answers: StoredAnswers(store, model: [1])
                    ).run().statistics.answersTaken
                } catch { #expect(crashes) }
                if Bool.random(using: &random) { store.close() }
                runs += 1
            }
            #expect(results.output?.map(withoutTiming) == expected)
        }
        #expect(runs > 2 && taken >= 50)
    }
}
