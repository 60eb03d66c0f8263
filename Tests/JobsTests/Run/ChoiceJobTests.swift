import BatchEngine
import JSON
import OperatingSystem
import PhiModel
import Testing

@testable import BatchPipeline
@testable import Jobs

/// Jobs that choose one of some answers, over scripted models.
@Suite struct ChoiceJobTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func job(_ path: String, _ change: (inout JobSettings) -> Void = { _ in }) -> JobSettings {
        .test(input: [path]) { job in
            job.maxFailures = .percent(100)
            change(&job)
        }
    }

    /// Each choice by itself, and the end after it.
    private func logprob(_ prompt: String, _ choice: String) -> Double {
        let model = ScriptedModel()
        let all = ScriptedModel.ids(prompt + choice) + [0]
        return (prompt.utf8.count..<all.count).reduce(0) {
            $0 + Double(model.logprob(of: all[$1], after: all[..<$1]))
        }
    }

    private func probabilities(_ prompt: String, _ choices: [String]) -> [(String, Double)] {
        let logprobs = choices.map { logprob(prompt, $0) }
        let weights = logprobs.map { FixedArithmetic.exp($0 - (logprobs.max() ?? 0)) }
        let sum = weights.reduce(0, +)
        return zip(choices, weights).map { ($0, $1 / sum) }
    }

    private static let choices = ["positive", "negative", "positive and so on", "posh", "neutral"]

    @Test func resultsDependOnNothingButTheLine() throws {
        var lines: [String] = []
        var wanted: [GenerationResult] = []
        var chosen: Set<String> = []
        for number in 0..<30 {
            let prompt = String(repeating: "word ", count: number * 7 % 23) + "\(number)"
            // Others are the line's own.
            let choices = number % 3 == 0 ? ["a", "b\(number)", "ab"] : Self.choices
            let json = choices.map { "\"\($0)\"" }.joined(separator: ",")
            lines.append("{\"prompt\":\"\(prompt)\",\"of\":[\(json)],\"seed\":5}\n")
            let all = probabilities(ScriptedModel.chat(prompt), choices)
            let best = all.reduce(all[0]) { $1.1 > $0.1 ? $1 : $0 }.0
            chosen.insert(best)
            wanted.append(
                .completion(
                    best, finishReason: .stop, probabilities: all,
                    promptTokens: ScriptedModel.chat(prompt).utf8.count, completionTokens: best.utf8.count,
                    seed: 5, tokens: ScriptedModel.ids(best), provenance: ["script": "1"]))
        }
        #expect(chosen.count > 4, "the comparison must mean something")
        let path = try folder.write(lines.joined(), to: "in.jsonl")
        var preemptions = 0
        let choosing = job(path) { ($0.tokens, $0.choices) = (true, ["{{ of }}"]) }
        try ScriptedRun.inManyWays(choosing) { outcome, found, model in
            #expect(outcome.status == .complete && outcome.statistics.done == 30)
            let results = try found.map(ScriptedRun.result)
            #expect(results == wanted)
            #expect(outcome.statistics.finishReasons == ["stop": 30])
            preemptions += model.preemptions
        }
        #expect(preemptions > 0)
    }

    @Test func sharedBeginningsAreComputedOnce() throws {
        let path = try folder.write("{\"prompt\":\"one\"}\n", to: "in.jsonl")
        let model = ScriptedModel()
        let (outcome, _) = try ScriptedRun.run(job(path) { $0.choices = Self.choices }, model)
        #expect(outcome.statistics.done == 1)
        let nodes = Set(Self.choices.flatMap { text in text.indices.map { text[...$0] } })
        #expect(model.rows == ScriptedModel.chat("one").utf8.count + nodes.count)
        #expect(outcome.statistics.completionTokens == nodes.count + 1)
    }

    @Test func drawsFollowTheProbabilities() throws {
        let tree = LabelTree([[5], [6], [7]], ends: [0])
        // The root's questions, and the end after each.
        func weights(_ logprobs: [Float]) -> ChoiceWeights {
            ChoiceWeights(tree, count: 3, answers: logprobs + [0, 0, 0])
        }
        let some = weights([-1, -2, -1.5])
        #expect(some.chosen(temperature: 0, stream: 1) == 0)
        #expect(weights([-3, -1, -1]).chosen(temperature: 0, stream: 1) == 1, "of equals the first")
        #expect(abs(some.probabilities.reduce(0, +) - 1) < 1e-15)
        for temperature: Float in [0.5, 1, 2] {
            var counts = [0.0, 0, 0]
            for number in 0..<4000 {
                let stream = RandomStream.key(seed: 3, id: "\(number)", sample: 0)
                counts[some.chosen(temperature: temperature, stream: stream)] += 1 / 4000
            }
            let sharp = [-1.0, -2, -1.5].map { FixedArithmetic.exp($0 / Double(temperature)) }
            let sum = sharp.reduce(0, +)
            for (count, weight) in zip(counts, sharp) { #expect(abs(count - weight / sum) < 0.03) }
        }
        // Whichever end comes; what can't come is not infinite.
        let two = LabelTree([[5], [6]], ends: [0, 1])
        let ended = ChoiceWeights(two, count: 2, answers: [-1, -.infinity, -2, -1, -1, -2])
        let end = FixedArithmetic.log(1 + FixedArithmetic.exp(-1))
        #expect(ended.logprobs == [-1 + (-1 + end), -9999 + (-1 + end)])
        #expect(ended.probabilities == [1, 0])
    }

    @Test func samplesAreDrawnOnTheirOwn() throws {
        let path = try folder.write("{\"id\":\"a\",\"prompt\":\"one\"}\n", to: "in.jsonl")
        let (_, lines) = try ScriptedRun.run(
            job(path) { ($0.choices, $0.samples, $0.temperature, $0.seed) = (Self.choices, 40, 10, 2) })
        let texts = try lines.enumerated().map { sample, line in
            let chosen = try ScriptedRun.result(line)
            let all = probabilities(ScriptedModel.chat("one"), Self.choices).map { ($0, JSONValue.plain($1)) }
            #expect(chosen.own["probabilities"] == .object(JSONObject(all)))
            return try #require(chosen.text)
        }
        #expect(texts.count == 40 && Set(texts).count > 2 && Set(texts).isSubset(of: Self.choices))
    }

    @Test func wrongLinesHaveOneClearErrorEach() throws {
        let many = "[" + (0...10_000).map { "\"\($0)\"" }.joined(separator: ",") + "]"
        let long = String(repeating: "x", count: 60)
        let lines: [(line: String, code: String, message: String)] = [
            ("\"choices\":\"a\"", "bad_field", "`choices` must be a list of strings, the answers to choose"),
            ("\"choices\":[]", "bad_field", "`choices` must be two answers or more, but is an empty list."),
            ("\"choices\":[\"a\"]", "bad_field", "but is a single one (\"a\")."),
            ("\"choices\":[\"a\",\"b\",\"a\"]", "bad_field", "`choices` has \"a\" more than once."),
            ("\"choices\":[\"a\",\"\"]", "bad_field", "has an empty text"),
            ("\"choices\":[\"a\",7]", "bad_field", "`choices[1]` must be a string, but is a number."),
            ("\"choices\":\(many)", "bad_field", "has 10001 answers; at most 10000"),
            ("\"choices\":[\"a\",\"b\"],\"top_k\":3", "bad_field", "top_k has no meaning with choices"),
            ("\"choices\":[\"a\",\"b\"],\"stop\":\"c\"", "bad_field", "stop has no meaning with choices"),
            (
                "\"choices\":[\"abc\",\"b\"],\"max_tokens\":2", "bad_field",
                "max_tokens is 2, but the choice \"abc\" has 3 tokens; it must be 3 at least."
            ),
            ("\"choices\":[\"b\",\"\(long)\"]", "prompt_too_long", "but the model's context"),
            ("\"choices\":[\"a\",\"bZ\"]", "logits_not_finite", "not finite"),
        ]
        let tokens = (
            line: "{\"prompt\":[97],\"choices\":[\"a\",\"b\"]}", code: "bad_field",
            message: "is a list of token ids, which choices"
        )
        try ScriptedRun.expectFailures(
            lines.map { ("{\"prompt\":\"a\",\($0.line)}", $0.code, $0.message) } + [tokens],
            beside: "{\"prompt\":\"a\",\"choices\":[\"a\",\"b\"]}"
        ) { job($0) }
    }

    /// A job may show the line's choices to the model without taking them for its answers, or both.
    @Test func aTemplateMayUseTheField() throws {
        let line = "{\"question\":\"one\",\"choices\":[\"a\",\"b\"]}\n"
        func texts(_ change: @escaping (inout JobSettings) -> Void) throws -> [Bool] {
            let path = try folder.write(line, to: "in.jsonl")
            return try ScriptedRun.run(job(path, change)).lines.map { $0.contains("\"probabilities\"") }
        }
        #expect(try texts { $0.prompt = "{{ question }}" } == [false])
        #expect(try texts { ($0.prompt, $0.lineSettings) = ("{{ question }}", ["choices"]) } == [true])
        #expect(try texts { $0.prompt = "{{ question }} {{ choices }}" } == [false])
        #expect(
            try texts { ($0.prompt, $0.choices) = ("{{ question }} {{ choices }}", ["{{ choices }}"]) }
                == [true])
        #expect(try texts { ($0.task, $0.prompt, $0.completion) = (.score, "", "{{ choices }}") } == [false])
    }

    @Test func settingsThatMeanNothingAreRefused() throws {
        let problem = { JobSettings.problem($0) }
        #expect(
            problem("choices: [a, b]\ntemperature: 1\nseed: 3\nsamples: 2\ntokens: true\nmax_tokens: 9") == ""
        )
        #expect(problem("choices: '{{ labels }}'").isEmpty)
        for (setting, name) in [
            ("top_p: 0.5", "top_p"), ("stop: x", "stop"), ("ignore_eos: true", "ignore_eos"),
            ("logit_bias: {1: 2}", "logit_bias"), ("repetition_penalty: 1.1", "repetition_penalty"),
        ] {
            #expect(problem("choices: [a, b]\n" + setting).contains("\(name) has no meaning with choices"))
        }
        #expect(problem("choices: [a, b]\nlogprobs: 1").contains("each choice's probability is there"))
        #expect(problem("choices: [a, b]\ntask: score").contains("choices has no meaning where nothing"))
        #expect(problem("choices: []").contains("choices must be two answers or more"))
        #expect(problem("choices: yes").contains("is a single one (\"yes\")"))
        #expect(problem("choices: [a, 1]").contains("put it in quotes"))
        #expect(problem("choices: [a, '{{ b }}']").contains("a field must be alone"))
        #expect(problem("choices: [a, b]\nkeep: probabilities").contains("keep must not use probabilities"))
        // Each list makes other results.
        let one = job("in") { $0.choices = ["a", "b"] }.resultSettings
        let other = job("in") { $0.choices = ["b", "a"] }.resultSettings
        #expect(one.first { $0.name == "choices" }?.value != other.first { $0.name == "choices" }?.value)
        #expect(!job("in").resultSettings.map(\.name).contains("choices"))
    }

    @Test func choicesWithoutOwnTokensAreRefused() throws {
        #expect(try GenerateTask.tree([[4], [5, 6]], of: ["a", "b"], ends: [1]).depth == 2)
        for choices: [[Int32]] in [[[4], [5, 6], [5, 6]], [[4], []], [[4, 1], [4]]] {
            #expect(throws: LineError.self) {
                try GenerateTask.tree(choices, of: ["a", "b", "c"], ends: [1])
            }
        }
    }
}
