import BatchEngine
import Foundation
import PhiModel
import TestSupport
import Testing

@testable import BatchPipeline
@testable import Jobs

/// What becomes of lines that fail, and of runs that can't go on.
@Suite struct RunFailureTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    @Test func aModelThatCannotBeLoadedEndsTheRun() throws {
        let folder = try TestFolder()
        try folder.write(ScriptedRun.prompts(5).utf8, to: "in.jsonl")
        let store = try LogStore(output: folder.path("out.jsonl"), fingerprint: testFingerprint)
        let problem = UserError(.resources, "there is not enough memory")
        #expect(throws: problem) {
            try Runner(job: ScriptedRun.job(folder.path("in.jsonl")), store: store) { throw problem }.run()
        }
        #expect(try folder.names == ["in.jsonl"], "nothing is left behind")
    }

    @Test func badLinesBecomeResultsAndTheJobGoesOn() throws {
        let lines: [[UInt8]] = [
            Array(#"{"id":"good","prompt":"hi"}"#.utf8), Array("not json".utf8),
            Array("{\"prompt\":\"".utf8) + [0xC3, 0x28] + Array("\"}".utf8),
            Array(#"{"id":"good","prompt":"again"}"#.utf8),
            Array(#"{"id":"none","text":"hi"}"#.utf8),
            Array(#"{"id":"long","prompt":"\#(String(repeating: "x", count: 500))"}"#.utf8),
            Array(#"{"id":"field","prompt":"x","max_tokens":-1}"#.utf8),
            Array(#"{"id":"role","messages":[{"role":"forbidden","content":"x"}]}"#.utf8),
            Array(#"{"id":"ids","prompt":[5000]}"#.utf8),
            Array(#"{"id":"room","prompt":"\#(String(repeating: "x", count: 150))"}"#.utf8),
            [0x00], Array(#"{"prompt":"numbered"}"#.utf8),
        ]
        let path = try folder.write(Array(lines.joined(separator: [0x0A])), to: "in.jsonl")
        let model = ScriptedModel(contextLength: 400)
        model.room = 200
        let job = ScriptedRun.job(path) { $0.maxFailures = .count(10) }
        let (outcome, results) = try ScriptedRun.run(job, model)
        #expect(outcome.status == .complete && outcome.statistics.failed == 10 && results.count == 12)
        let codes = results.map { ErrorResult.code(of: $0) }
        #expect(
            codes == [
                nil, "invalid_json", "invalid_utf8", "duplicate_id", "missing_prompt", "prompt_too_long",
                "bad_field",
                "bad_field", "bad_prompt", "kv_budget_exceeded", "invalid_json", nil,
            ])
        #expect(
            results[1].hasPrefix(
                #"{"id":"2","index":1,"error":{"code":"invalid_json","message":"The line is not valid JSON"#))
        #expect(results[1].hasSuffix(#","line":2}}"#))
        #expect(results[11].hasPrefix(#"{"id":"12","index":11,"text":""#))
    }

    /// What no line could have is an error of the job.
    @Test(arguments: [60, nil]) func aBudgetThatIsTooSmallForAnyLineIsSaidOnce(most: Int?) throws {
        let folder = try TestFolder()
        let model = ScriptedModel()
        model.room = 32
        let path = try folder.write(ScriptedRun.prompts(5), to: "in.jsonl")
        let job = ScriptedRun.job(path) { $0.maxTokens = most }
        let error = #expect(throws: UserError.self) { try ScriptedRun.run(job, model) }
        let said = error?.message ?? ""
        #expect(said.contains("max_tokens: \(most ?? 256) alone is more") && said.contains("kv_budget"))
    }

    /// Logits that are not finite, in one sample of some lines: these are errors, and the others go on.
    @Test func aFaultOfTheModelIsItsLinesAlone() throws {
        let path = try folder.write(ScriptedRun.prompts(12), to: "in.jsonl")
        let job = ScriptedRun.job(path) {
            $0.samples = 3
            $0.maxFailures = .count(2)
            $0.ignoreEndOfSequence = true
        }
        let (_, expected) = try ScriptedRun.run(job)
        let model = ScriptedModel()
        // Lines 4 and 9 (in one all samples but the first, in the other the last), after some tokens.
        let bad = Set(
            [(4, 1), (4, 2), (9, 2)].map { RandomStream.key(seed: 17, id: "line-\($0.0)", sample: $0.1) })
        model.isFaulty = { bad.contains($1.stream) && $1.position == 3 }
        let store = MemoryStore()
        let (outcome, lines) = try ScriptedRun.run(job, model, store)
        #expect(outcome.status == .complete && outcome.statistics.failed == 2)
        #expect(outcome.failures.map(\.id).sorted() == ["line-4", "line-9"])
        #expect(lines.count == 36)
        for (position, line) in lines.enumerated() {
            if [13, 14, 29].contains(position) {
                #expect(ErrorResult.code(of: line) == "logits_not_finite")
                #expect(line.contains("not finite after 3 tokens"), "\(line)")
            } else {
                #expect(line == expected[position])
            }
        }
        // The same again, with a mended model: failed lines of a complete job stay until they are asked for.
        let (mended, again) = try ScriptedRun.run(job, ScriptedModel(), store)
        #expect(mended.statistics.done == 0 && mended.statistics.failed == 2 && again == lines)
    }

    @Test func tooManyFailuresAreToldAgainUntilTheyAreMended() throws {
        let path = try folder.write(ScriptedRun.prompts(10) + "oops\n" + "{\"id\":\"x\"}\n", to: "in.jsonl")
        let store = MemoryStore()
        let job = ScriptedRun.job(path)
        let (outcome, _) = try ScriptedRun.run(job, ScriptedModel(), store)
        #expect(outcome.status == .tooManyFailures(allowed: 0) && !outcome.endedEarly)
        #expect(store.output?.count == 12 && store.suspensions == 0)
        #expect(outcome.failures.map(\.line) == [11, 12] && outcome.failures.map(\.id) == ["11", "x"])
        // The same again: nothing is tried.
        let (again, _) = try ScriptedRun.run(job, ScriptedModel(), store)
        #expect(again.status == .tooManyFailures(allowed: 0))
        #expect(again.statistics.done == 0 && again.statistics.failed == 2 && again.statistics.skipped == 10)
        #expect(again.failures == outcome.failures && store.appended == 12)
        // Mended: only the mended line is done.
        _ = try folder.write(
            ScriptedRun.prompts(10) + "oops\n" + "{\"id\":\"x\",\"prompt\":\"now\"}\n", to: "in.jsonl")
        let allowing = ScriptedRun.job(path) { $0.maxFailures = .count(1) }
        let (mended, lines) = try ScriptedRun.run(allowing, ScriptedModel(), store)
        #expect(mended.status == .complete && mended.statistics.done == 1 && mended.statistics.skipped == 10)
        #expect(lines.count == 12)
    }

    /// A limit that is given, and passed for certain, ends the run; mended and run again, it goes on.
    @Test(arguments: [FailureLimit.count(2), .percent(1)])
    func aLimitThatIsPassedEndsTheRun(limit: FailureLimit) throws {
        let bad = String(repeating: "oops\n", count: 5)
        let path = try folder.write(bad + ScriptedRun.prompts(200), to: "in.jsonl")
        let store = MemoryStore()
        let job = ScriptedRun.job(path) { $0.maxFailures = limit }
        let (outcome, _) = try ScriptedRun.run(job, ScriptedModel(), store)
        #expect(outcome.status == .tooManyFailures(allowed: 2))
        #expect(outcome.statistics.failed >= 3 && store.output == nil)
        let patient = ScriptedRun.job(path) { $0.maxFailures = .count(5) }
        let (rest, lines) = try ScriptedRun.run(patient, ScriptedModel(), store)
        #expect(rest.status == .complete && lines.count == 205)
    }

    @Test func aPercentageOfFailuresMayPass() throws {
        let path = try folder.write(ScriptedRun.prompts(19) + "oops\n", to: "in.jsonl")
        let (passed, _) = try ScriptedRun.run(ScriptedRun.job(path) { $0.maxFailures = .percent(5) })
        #expect(passed.status == .complete)
        let (failed, _) = try ScriptedRun.run(ScriptedRun.job(path) { $0.maxFailures = .percent(4.9) })
        #expect(failed.status == .tooManyFailures(allowed: 0))
    }

    @Test func errorsOfStoreModelAndInputLeaveTheJobResumable() throws {
        let path = try folder.write(ScriptedRun.prompts(10), to: "in.jsonl")
        let store = MemoryStore()
        let full = UserError(.io, "disk full")
        store.failAppend = { $0 == 4 ? full : nil }
        #expect(throws: full) {
            try Runner(job: ScriptedRun.job(path), model: ScriptedModel(), store: store).run()
        }
        #expect(store.suspensions == 1 && store.output == nil)
        let missing = MemoryStore()
        #expect(throws: UserError.self) {
            try Runner(job: ScriptedRun.job("no-such-file"), model: ScriptedModel(), store: missing).run()
        }
        #expect(missing.suspensions == 1)
    }

    @Test func stopStringsNeedATokenizer() throws {
        let model = ScriptedModel()
        model.hasTokenizer = false
        #expect(throws: UserError.self) {
            try Runner(job: ScriptedRun.job("x"), model: model, store: MemoryStore())
        }
    }
}
