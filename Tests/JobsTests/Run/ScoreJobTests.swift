import BatchEngine
import Foundation
import JSON
import PhiModel
import Testing

@testable import BatchPipeline
@testable import Jobs

/// Jobs that score, over scripted models.
@Suite struct ScoreJobTests {
    private func job(_ path: String, _ change: (inout JobSettings) -> Void = { _ in }) -> JobSettings {
        .test(input: [path]) { job in
            job.task = .score
            job.maxFailures = .percent(100)
            change(&job)
        }
    }

    /// What a result must say of a completion.
    private func expected(_ prompt: String, _ completion: String) -> JSONObject {
        let model = ScriptedModel()
        let all = ScriptedModel.ids(prompt + completion)
        return GenerationResult.score(
            (prompt.utf8.count..<all.count).map { model.logprob(of: all[$0], after: all[..<$0]) },
            tokens: ScriptedModel.ids(completion), provenance: ["script": "1"])
    }

    @Test func resultsDependOnNothingButTheLine() throws {
        let folder = try TestFolder()
        var lines: [String] = []
        var wanted: [GenerationResult] = []
        for number in 0..<30 {
            let prompt = String(repeating: "word ", count: number * 7 % 23) + "\(number)"
            let count = number % 4
            let texts = (0..<max(1, count)).map { "\($0)" + String(repeating: "x", count: number % 9 * $0) }
            let json = count > 0 ? "[\(texts.map { "\"\($0)\"" }.joined(separator: ","))]" : "\"\(texts[0])\""
            lines.append("{\"prompt\":\"\(prompt)\",\"completion\":\(json),\"text\":\"t\(number)\"}\n")
            wanted.append(
                .scores(
                    texts.map { expected(ScriptedModel.chat(prompt), $0) }, isList: count > 0,
                    promptTokens: ScriptedModel.chat(prompt).utf8.count))
        }
        let path = try folder.write(lines.joined(), to: "in.jsonl")
        let keep = KeptFields.fields([.init("text")])
        var preemptions = 0
        let scoring = job(path) { ($0.tokens, $0.keep) = (true, keep) }
        try ScriptedRun.inManyWays(scoring) { outcome, found, model in
            #expect(outcome.status == .complete && outcome.statistics.done == 30)
            let results = try found.map(ScriptedRun.result)
            #expect(
                results
                    == wanted.enumerated().map { number, wanted in
                        GenerationResult(wanted.own, kept: ["text": .string("t\(number)")])
                    })
            #expect(outcome.statistics.completionTokens == wanted.reduce(0) { $0 + $1.completionTokens })
            // Where all of a prompt but its last token is in the cache, no other row is computed.
            #expect((outcome.statistics.scoringRows >= 30) == (model.cachedTokens < 200))
            preemptions += model.preemptions
        }
        #expect(preemptions == 0, "their room is taken at once")
    }

    @Test func textsStandWhereAnAnswerWould() throws {
        let folder = try TestFolder()
        let line = "{\"prompt\":\"ask\",\"answer\":\"yes\",\"text\":\"no\"}\n"
        func scores(_ line: String, _ change: @escaping (inout JobSettings) -> Void) throws -> [Double] {
            let path = try folder.write(line, to: "in.jsonl")
            let (_, lines) = try ScriptedRun.run(job(path, change))
            let own = try ScriptedRun.result(lines[0]).own
            return (own["scores"]?.elements ?? [.object(own)]).compactMap { $0.number("logprob") }
        }
        func sum(_ prompt: String, _ completion: String) -> [Double] {
            [expected(prompt, completion)["logprob"]?.number ?? 0]
        }
        #expect(try scores(line) { _ in } == sum("<user>ask<assistant>", "no"))
        #expect(try scores(line) { $0.completion = "{{ answer }}" } == sum("<user>ask<assistant>", "yes"))
        #expect(
            try scores(line) { $0.completion = " {{ answer }}/{{ text }}" }
                == sum("<user>ask<assistant>", " yes/no"))
        #expect(try scores(line) { $0.prefix = "Well, " } == sum("<user>ask<assistant>Well, ", "no"))
        #expect(try scores(line) { $0.chat = false } == sum("ask", "no"))
        // A text by itself, from its second token on.
        for text in ["{\"completion\":\"whole\"}\n", "{\"text\":\"whole\",\"prompt\":null}\n"] {
            #expect(try scores(text) { $0.chat = false } == sum("w", "hole"))
        }
        #expect(
            try scores("{\"prompt\":\"whole\"}\n") {
                ($0.chat, $0.prompt, $0.completion) = (false, "", "{{ prompt }}")
            } == sum("w", "hole"))
        // Token ids, as they are.
        let tokens = "{\"prompt\":[97,98],\"completion\":[99,100]}\n"
        #expect(try scores(tokens) { _ in } == sum("ab", "cd"))
    }

    @Test func wrongLinesHaveOneClearErrorEach() throws {
        let long = String(repeating: "x", count: 60)
        let many = "[" + Array(repeating: "\"a\"", count: 1025).joined(separator: ",") + "]"
        let lines: [(line: String, code: String, message: String)] = [
            ("{\"prompt\":\"a\"}", "bad_field", "The line has no `completion` and no `text`"),
            ("{\"prompt\":\"a\",\"completion\":\"\"}", "bad_field", "`completion` is empty."),
            ("{\"prompt\":\"a\",\"completion\":[]}", "bad_field", "`completion` is an empty list."),
            ("{\"prompt\":\"a\",\"completion\":7}", "bad_field", "`completion` must be a string or a list"),
            ("{\"prompt\":\"a\",\"completion\":[\"b\",7]}", "bad_field", "`completion[1]` must be a string"),
            ("{\"prompt\":\"a\",\"completion\":[\"b\",\"\"]}", "bad_field", "`completion[1]` is empty."),
            ("{\"prompt\":\"a\",\"completion\":\(many)}", "bad_field", "has 1025 elements; at most 1024"),
            ("{\"prompt\":\"a\",\"completion\":[\"b\",\"\(long)\"]}", "prompt_too_long", "completion 1 has"),
            ("{\"completion\":\"b\"}", "missing_prompt", "no `prompt`"),
            ("{\"prompt\":[97],\"completion\":\"b\"}", "bad_field", "is a list of token ids, so what"),
            ("{\"prompt\":[97],\"completion\":[999]}", "bad_prompt", "has the token id 999"),
            ("{\"prompt\":\"a\",\"completion\":\"b\",\"seed\":1}", "bad_field", "`seed` has no meaning"),
            ("{\"prompt\":\"a\",\"completion\":[\"good\",\"abZ\"]}", "logits_not_finite", "after 2 tokens"),
            ("not JSON", "invalid_json", "is not valid JSON"),
        ]
        for chunk in [1, 512] {
            try ScriptedRun.expectFailures(lines, beside: "{\"prompt\":\"a\",\"completion\":\"good\"}") {
                job($0) { ($0.engine.prefillChunk, $0.keep) = (chunk, .all) }
            }
        }
    }

    @Test func aTextOfOneTokenHasNoScore() throws {
        let folder = try TestFolder()
        let path = try folder.write("{\"text\":\"a\"}\n", to: "in.jsonl")
        let (outcome, _) = try ScriptedRun.run(job(path) { $0.chat = false })
        #expect(outcome.failures.first?.error.message.contains("the first of a text has no") == true)
    }

    @Test func settingsThatMeanNothingAreRefused() throws {
        let problem = { JobSettings.problem($0) }
        #expect(problem("task: score\nkeep: text\ntokens: true") == "")
        #expect(problem("task: generate").isEmpty)
        for (setting, name) in [
            ("max_tokens: 5", "max_tokens"), ("temperature: 0", "temperature"), ("stop: x", "stop"),
            ("seed: 0", "seed"), ("samples: 2", "samples"), ("ignore_eos: true", "ignore_eos"),
            ("logit_bias: {1: 2}", "logit_bias"), ("logprobs: 0", "logprobs"),
        ] {
            #expect(problem("task: score\n" + setting).contains("\(name) has no meaning"), "\(setting)")
        }
        #expect(problem("task: score\nkeep: mean").contains("keep must not use mean"))
        #expect(problem("keep: text").contains("keep must not use text"))
        #expect(problem("keep: mean").isEmpty)
        #expect(problem("completion: x").contains("needs task: score"))
        #expect(problem("task: judge").contains("task must be one of generate, score"))
    }

    /// Older results count as before; of jobs that score each setting counts.
    @Test func theFingerprintHasTheTaskIfItIsSet() throws {
        let plain = job("in").resultSettings.map(\.name)
        #expect(plain.contains("task") && !plain.contains("completion"))
        #expect(!ScriptedRun.job("in").resultSettings.map(\.name).contains("task"))
        #expect(job("in") { $0.completion = "{{ a }}" }.resultSettings.map(\.name).contains("completion"))
    }
}
