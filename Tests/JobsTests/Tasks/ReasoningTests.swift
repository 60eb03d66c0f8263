import BatchEngine
import Foundation
import JSON
import PhiText
import TestSupport
import Testing

@testable import Jobs

/// Reasoning before answers, of a scripted model: `x` begins one, `end` ends it.
@Suite struct ReasoningTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// - Parameter isUsual: its files say that it thinks.
    static func reasonings(isUsual: Bool = true) -> ReasoningText {
        var tags = ReasoningTags()
        (tags.opening, tags.closing) = ("x", "end")
        let text = { @Sendable (token: Int32) in
            String(decoding: ScriptedModel.bytes(of: token), as: UTF8.self)
        }
        return ReasoningText(tags, isUsual: isUsual, text: text) { text, _ in text.utf8.map { Int32($0) } }
    }

    private func lines(_ folder: TestFolder, stop: Bool) throws -> String {
        var random = FixedRandom(8)
        return try folder.write(
            (0..<30).map { index in
                let words = String(repeating: "word ", count: Int.random(in: 0...40, using: &random))
                var line = "{\"id\":\"line-\(index)\",\"prompt\":\"\(words)\(index)\""
                if index % 5 == 1 { line += ",\"max_reasoning_tokens\":\(index % 3 * 4)" }
                if stop, index % 7 == 2 { line += ",\"stop\":[\"bc\"]" }
                if index % 6 == 3 { line += ",\"reasoning_effort\":\"low\"" }
                return line + "}\n"
            }.joined(), to: "in.jsonl")
    }

    private func job(
        _ folder: TestFolder, stop: Bool = false, _ change: (inout JobSettings) -> Void
    ) throws -> JobSettings {
        let input = try lines(folder, stop: stop)
        return .test(input: [input]) { job in
            (job.maxTokens, job.temperature, job.seed) = (80, 0.9, 4)
            change(&job)
        }
    }

    /// The same in all ways, whole or stopped over and over; each result looked at.
    private func same(
        _ job: JobSettings, _ look: (GenerationResult) throws -> Void
    ) throws -> [String] {
        let reasonings = Self.reasonings()
        let expected = try ScriptedRun.inManyWays(job, reasonings: reasonings) { outcome, lines, _ in
            #expect(outcome.statistics.failed == 0, "\(lines)")
        }
        #expect(try ScriptedRun.stopped(job, seed: 9, steps: 30, reasonings: reasonings) == expected)
        for line in expected { try look(ScriptedRun.result(line)) }
        return expected
    }

    @Test func anAnswerOfAFormFollows() throws {
        var (cut, whole) = (0, 0)
        let job = try job(folder) {
            $0.regex = "[a-c]{3,9}!"
            $0.request.maxReasoningTokens = 20
            $0.request.reasoningEnding = "bc"
        }
        _ = try same(
            job
        ) { made in
            let reasoning = try #require(made.reasoning)
            #expect(made.text?.wholeMatch(of: /[a-c]{3,9}!/) != nil && made.finishReason == .stop)
            #expect(!reasoning.contains("end") && made.completionTokens <= 80)
            // The tag that begins it, at most 20 of its own, the sentence and the tag that end it, and what is between.
            let count = try #require(made.reasoningTokens)
            #expect((1...2 + 20 + 7 + 2).contains(count))
            let isCut = made.own["reasoning_cut"] == true
            #expect(!isCut || reasoning.hasSuffix("bc"))
            if isCut { cut += 1 } else { whole += 1 }
        }
        #expect(cut > 3 && whole > 3)
    }

    @Test func stopStringsAndLimitsAreTheAnswers() throws {
        var (stopped, lost, inside) = (0, 0, 0)
        let job = try job(folder, stop: true) {
            $0.maxTokens = 30
            $0.prefix = "x"
            $0.stop = [" the", "日"]
            $0.request.reasoning = "separate"
        }
        let lines = try same(job) { made in
            let (text, reasoning) = (try #require(made.text), try #require(made.reasoning))
            #expect(!text.contains(" the") && !text.contains("日") && !reasoning.contains("end"))
            if reasoning.contains(" the") || reasoning.contains("日") { inside += 1 }
            if made.finishReason == .stop { stopped += 1 }
            if made.finishReason == .reasoningLength {
                lost += 1
                #expect(text.isEmpty && made.completionTokens == 30 && made.reasoningTokens == 30)
            }
        }
        #expect(stopped > 3 && inside > 3 && lost > 0)
        // Kept, text is what was written; dropped, only its tokens are counted.
        var others: [[GenerationResult]] = []
        for use in ["keep", "drop"] {
            var other = job
            other.request.reasoning = use
            let model = ScriptedModel()
            model.reasonings = Self.reasonings()
            others.append(try ScriptedRun.run(other, model).lines.map(ScriptedRun.result))
        }
        for (line, (kept, dropped)) in zip(lines, zip(others[0], others[1])) {
            let made = try ScriptedRun.result(line)
            let (text, keptText) = (try #require(made.text), try #require(kept.text))
            #expect(kept.reasoning == nil && dropped.reasoning == nil && dropped.text == made.text)
            let reasoning = Array((made.reasoning ?? "?").utf8)
            #expect(keptText.hasSuffix(text))
            #expect(reasoning.isEmpty || Array(keptText.utf8).firstRange(of: reasoning) != nil)
            #expect(
                kept.reasoningTokens == made.reasoningTokens
                    && dropped.reasoningTokens == made.reasoningTokens)
        }
    }

    /// A model that needn't think may answer at once, and then all is as it was without reasoning.
    @Test func withoutAReasoningNothingChanges() throws {
        let input = try folder.write(ScriptedRun.prompts(40), to: "in.jsonl")
        let job = ScriptedRun.job(input)
        let plain = try ScriptedRun.run(job).lines
        let model = ScriptedModel()
        model.reasonings = Self.reasonings()
        let lines = try ScriptedRun.run(job, model).lines
        var same = 0
        for (line, other) in zip(lines, plain) {
            let (made, before) = (try ScriptedRun.result(line), try ScriptedRun.result(other))
            guard made.reasoningTokens == 0 else { continue }
            same += 1
            #expect(
                made.text == before.text && made.completionTokens == before.completionTokens
                    && made.finishReason == before.finishReason)
        }
        #expect(same > 25)
    }

    @Test func aChoiceFollows() throws {
        let job = try job(folder) {
            $0.request.choices = ["yes", "no"]
            $0.request.maxReasoningTokens = 12
        }
        let input = try folder.write(
            (0..<20).map { "{\"id\":\"\($0)\",\"prompt\":\"\($0) words\"}\n" }.joined(), to: "in.jsonl")
        var running = job
        running.input = [input]
        let lines = try same(running) { made in
            let reasoningTokens = try #require(made.reasoningTokens)
            #expect(["yes", "no"].contains(made.text) && made.reasoning != nil && reasoningTokens > 2)
            #expect(made.completionTokens > reasoningTokens && made.completionTokens <= 80)
        }
        #expect(lines.allSatisfy { $0.contains("\"probabilities\":{\"yes\":") })
    }

    /// Requests with other limits, endings or beginnings are not equal, whatever becomes of the reasoning.
    @Test func reasoningsTellRequestsApart() throws {
        func content(_ change: (inout RequestSettings) -> Void, prompt: [Int32] = [1]) -> Digest? {
            var settings = RequestSettings(maxTokens: 80)
            change(&settings)
            let model = ScriptedModel()
            let reasoning = Self.reasonings().reasoning(
                after: .tokens(prompt), prompt, settings, maxTokens: 80, of: model.limits)
            return Sampling(
                maxTokens: 80, sampling: SamplingParameters(), reasoning: reasoning, stream: 0,
                endOfSequence: [0],
                stops: .none, text: model.makeTextStream()
            ).content
        }
        let all = [
            content { _ in }, content { $0.maxReasoningTokens = 0 }, content { $0.maxReasoningTokens = 9 },
            content {
                $0.maxReasoningTokens = 9
                $0.reasoningEnding = "bc"
            }, content({ _ in }, prompt: [120]), content { $0.reasoningEffort = "high" },
        ]
        for (number, one) in all.enumerated() {
            #expect(all.allSatisfy { $0 != nil } && !all[..<number].contains(one), "\(number)")
        }
        let kept = content { $0.reasoning = "keep" }
        #expect(kept == all[0])
        // Where the prompt has the reasoning already, there is none to come.
        let after = content({ _ in }, prompt: Array("xend".utf8).map { Int32($0) })
        #expect(after == content({ _ in }, prompt: Array("end".utf8).map { Int32($0) }) && after != all[0])
    }

    @Test func whatHasNoMeaningIsRefused() throws {
        func problem(_ isUsual: Bool, _ change: (inout JobSettings) -> Void) throws -> String? {
            let model = ScriptedModel()
            model.reasonings = Self.reasonings(isUsual: isUsual)
            let input = try folder.write("{\"prompt\":\"a\"}\n", to: "one.jsonl")
            let job = JobSettings.test(input: [input]) {
                $0.maxFailures = .percent(100)
                change(&$0)
            }
            do {
                let lines = try ScriptedRun.run(job, model).lines
                return lines.first { $0.contains("\"error\"") }
            } catch { return "\(error)" }
        }
        #expect(
            try problem(false) { $0.request.maxReasoningTokens = 5 }?.contains("reasoning: separate") == true)
        #expect(
            try problem(false) { $0.request.reasoningEffort = "low" }?.contains("reasoning_effort") == true)
        #expect(try problem(false) { $0.request.reasoningEffort = "none" } == nil)
        #expect(try problem(true) { $0.request.maxReasoningTokens = 5 } == nil)
        let small = try problem(true) {
            $0.regex = "a{40}"
            $0.maxTokens = 60
        }
        #expect(small?.contains("max_tokens_too_small") == true, "\(small ?? "")")
    }
}
