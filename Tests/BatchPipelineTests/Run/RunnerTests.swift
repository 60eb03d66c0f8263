import BatchEngine
import Foundation
import Foundations
import PhiModel
import TestSupport
import Testing

@testable import BatchPipeline

@Suite struct RunnerTests {
    /// Prompts of very different lengths, with settings of their own here and there.
    static func prompts(_ count: Int, seed: UInt64 = 3) -> String {
        var random = FixedRandom(seed)
        return (0..<count).map { index in
            let words = String(repeating: "word ", count: Int.random(in: 0...60, using: &random))
            var line = "{\"id\":\"line-\(index)\",\"prompt\":\"\(words)\(index)\""
            if index % 5 == 1 { line += ",\"max_tokens\":\(1 + index % 7)" }
            if index % 7 == 2 { line += ",\"stop\":[\"end\",\" thebc\"]" }
            if index % 11 == 3 { line += ",\"seed\":\(index)" }
            if index % 3 == 0 { line += ",\"repetition_penalty\":1.5,\"frequency_penalty\":0.3" }
            if index % 4 == 1 { line += ",\"presence_penalty\":0.7,\"logit_bias\":{\"260\":-100,\"257\":1}" }
            if index % 13 == 4 {
                line = "{\"id\":\"line-\(index)\",\"messages\":[{\"role\":\"user\",\"content\":\"\(words)\"}]"
            }
            return line + "}\n"
        }.joined()
    }

    static func job(_ path: String, _ change: (inout JobSettings) -> Void = { _ in }) -> JobSettings {
        .test(input: [path]) { job in
            job.maxTokens = 60
            job.temperature = 0.8
            job.seed = 17
            job.stop = ["STOP"]
            job.tokens = true
            job.logprobs = 2
            change(&job)
        }
    }

    private func run(
        _ job: JobSettings, _ model: ScriptedModel = ScriptedModel(), _ store: MemoryStore = MemoryStore()
    ) throws
        -> (outcome: RunOutcome, lines: [String])
    {
        store.samples = job.samples
        let outcome = try Runner(job: job, model: model, store: store).run()
        #expect(model.faults.isEmpty, "\(model.faults)")
        #expect(model.liveSequences == 0)
        return (outcome, (store.output ?? []).map(withoutTiming))
    }

    @Test func resultsDependOnNothingButTheLine() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(Self.prompts(60), to: "in.jsonl")
        let (outcome, expected) = try run(Self.job(path) { $0.workers = .count(1) })
        #expect(outcome.status == .complete && expected.count == 60 && outcome.statistics.done == 60)
        let reasons = ["stop", "length", "stop_sequence"]
        for reason in reasons {
            #expect(expected.contains { $0.contains("\"finish_reason\":\"\(reason)\"") }, "\(reason)")
        }
        #expect(expected.allSatisfy { !$0.contains("STOP\",") || $0.contains("\"token\":\"STOP\"") })
        var preemptions = 0
        for (workers, chunk, room, cached) in [
            (2, 512, Int.max, 0), (7, 13, .max, 9), (32, 64, .max, 0), (32, 1, .max, 3), (16, 512, 900, 0),
            (5, 7, 450, 4), (32, 64, 700, 0),
        ] {
            let model = ScriptedModel()
            model.room = room
            model.looksAhead = false
            model.cachedTokens = cached
            // When one more is asked for, the workers' own are in the queue.
            model.readAhead = workers + 1
            let (_, lines) = try run(
                Self.job(path) {
                    $0.workers = .count(workers)
                    $0.prefillChunk = chunk
                }, model)
            #expect(lines == expected)
            #expect(model.largestBatch <= workers && model.largestStep <= workers + chunk)
            if room == .max { #expect(model.largestBatch == workers) }
            preemptions += model.preemptions
            if room == .max { #expect(preemptions == 0) }
        }
        #expect(preemptions > 0)
    }

    @Test(arguments: [1, 2, 3, 4, 5, 6, 7, 8])
    func interruptedRunsEndWithTheSameResults(seed: UInt64) throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(Self.prompts(40), to: "in.jsonl")
        let (_, expected) = try run(Self.job(path))
        var random = FixedRandom(seed)
        let store = MemoryStore()
        var runs = 0
        var resumed = 0
        while store.output == nil {
            let model = ScriptedModel()
            let flag = StopFlag()
            let crashes = Bool.random(using: &random)
            let last = Int.random(in: 1...25, using: &random)
            model.beforeStep = { step in
                guard step == last else { return }
                if crashes { throw ModelError(.resources, "out of luck") }
                flag.set()
            }
            let workers = Int.random(in: 1...9, using: &random)
            let job = Self.job(path) { $0.workers = .count(workers) }
            do {
                let outcome = try Runner(job: job, model: model, store: store, stopFlag: flag).run()
                resumed += outcome.statistics.resumed
                #expect((outcome.status == .complete) == (store.output != nil))
            } catch { #expect(crashes) }
            runs += 1
            guard runs < 200 else { break }
        }
        #expect(runs > 3 && resumed > 0)
        #expect(store.output?.map(withoutTiming) == expected)
    }

    @Test func theModelIsLoadedOnlyIfALineNeedsIt() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(Self.prompts(5) + "not JSON\n", to: "in.jsonl")
        let store = MemoryStore()
        var loads = 0
        func run(_ path: String) throws -> RunOutcome {
            let job = Self.job(path) { $0.maxFailures = .count(1) }
            return try Runner(job: job, store: store) {
                loads += 1
                return ScriptedModel().loaded
            }.run()
        }
        #expect(try run(path).statistics.done == 5 && loads == 1)
        let again = try run(path)
        #expect(again.status == .complete && again.statistics.done == 0 && again.statistics.skipped == 5)
        #expect(loads == 1, "not for a line that fails without it, either")
        let longer = try folder.write(Self.prompts(6), to: "longer.jsonl")
        #expect(try run(longer).statistics.done == 1 && loads == 2)
    }

    @Test func aModelThatCannotBeLoadedEndsTheRun() throws {
        let folder = try TestFolder()
        try folder.write(Self.prompts(5).utf8, to: "in.jsonl")
        let store = try JournalStore(output: folder.path("out.jsonl"), fingerprint: testFingerprint)
        let problem = ModelError(.resources, "there is not enough memory")
        #expect(throws: problem) {
            try Runner(job: Self.job(folder.path("in.jsonl")), store: store) { throw problem }.run()
        }
        #expect(try folder.names == ["in.jsonl"], "nothing is left behind")
    }

    @Test func statusCountsSamples() throws {
        let folder = try TestFolder()
        let lines =
            [#"{"prompt":"short","max_tokens":1}"#]
            + (1...3).map { #"{"prompt":"long \#($0)","max_tokens":3500}"# }
        try folder.write(lines.map { $0 + "\n" }.joined().utf8, to: "in.jsonl")
        let store = try JournalStore(
            output: folder.path("out.jsonl"), fingerprint: testFingerprint, samples: 3)
        let flag = StopFlag()
        let model = ScriptedModel()
        model.endOdds = .max
        // In the middle, once the whole input has been read: another thread does that, when it gets to it.
        model.beforeStep = { _ in
            if store.progress.resultsTotal != nil, store.progress.doneThisRun > 0 { flag.set() }
        }
        let job = JobSettings.test(input: [folder.path("in.jsonl")]) { $0.samples = 3 }
        let outcome = try Runner(job: job, model: model, store: store, stopFlag: flag).run()
        let status = try JobStatus.read(output: folder.path("out.jsonl"))
        #expect(outcome.status == .interrupted && status.done > 0 && status.inFlight > 0)
        #expect(status.left == 12 - status.done)
    }

    /// A stop that is asked for while the output is put in place comes too late, and is told so.
    @Test func aRunThatEndsDoesNotStop() throws {
        final class Slow: ResultStore {
            let inner = MemoryStore()
            var atFinish: () -> Void = {}
            func claim(_ key: WorkKey, position: Int) throws -> StoredState {
                try inner.claim(key, position: position)
            }
            func append(_ result: GenerationResult, key: WorkKey, position: Int) throws {
                try inner.append(result, key: key, position: position)
            }
            func saveInFlight(_ records: [InFlightRecord]) throws {}
            func sync() throws {}
            func finish(count: Int) throws {
                atFinish()
                try inner.finish(count: count)
            }
            func suspend() throws { try inner.suspend() }
        }
        let folder = try TemporaryFolder()
        let path = try folder.write(Self.prompts(5), to: "in.jsonl")
        let store = Slow()
        let flag = StopFlag()
        var wasTaken: Bool?
        store.atFinish = { wasTaken = flag.set() }
        let outcome = try Runner(job: Self.job(path), model: ScriptedModel(), store: store, stopFlag: flag)
            .run()
        #expect(outcome.status == .complete && wasTaken == false && !flag.isSet && store.inner.output != nil)
        // Asked for before, it is heeded.
        let early = StopFlag()
        #expect(early.set() && early.isSet && early.set())
        let stopped = try Runner(job: Self.job(path), model: ScriptedModel(), store: Slow(), stopFlag: early)
            .run()
        #expect(stopped.status == .interrupted)
    }

    @Test func savedTokensThatCannotBeOursAreNotUsed() throws {
        final class Liar: ResultStore {
            let inner = MemoryStore()
            let tokens: [Int32]
            init(_ tokens: [Int32]) { self.tokens = tokens }
            func claim(_ key: WorkKey, position: Int) throws -> StoredState {
                _ = try inner.claim(key, position: position)
                return .inFlight(InFlightRecord(key: key, tokens: tokens, logprobs: tokens.map { _ in "{}" }))
            }
            func append(_ result: GenerationResult, key: WorkKey, position: Int) throws {
                try inner.append(result, key: key, position: position)
            }
            func saveInFlight(_ records: [InFlightRecord]) throws {}
            func sync() throws {}
            func finish(count: Int) throws { try inner.finish(count: count) }
            func suspend() throws { try inner.suspend() }
        }
        let folder = try TemporaryFolder()
        let path = try folder.write(Self.prompts(5), to: "in.jsonl")
        let (_, expected) = try run(Self.job(path))
        for tokens: [Int32] in [[-1], [1_000_000], [0], [259], Array(repeating: 261, count: 60)] {
            let store = Liar(tokens)
            _ = try Runner(job: Self.job(path), model: ScriptedModel(), store: store).run()
            #expect(store.inner.output?.map(withoutTiming) == expected)
        }
    }

    @Test func badLinesBecomeResultsAndTheJobGoesOn() throws {
        let folder = try TemporaryFolder()
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
        let job = Self.job(path) { $0.maxFailures = .count(10) }
        let (outcome, results) = try run(job, model)
        #expect(outcome.status == .complete && outcome.statistics.failed == 10 && results.count == 12)
        let codes = results.map { ErrorResult.code(of: $0) }
        #expect(
            codes == [
                nil, "invalid_json", "invalid_utf8", "duplicate_id", "missing_prompt", "prompt_too_long",
                "bad_field",
                "template_error", "bad_prompt", "kv_budget_exceeded", "invalid_json", nil,
            ])
        #expect(
            results[1].hasPrefix(
                #"{"id":"2","index":1,"error":{"code":"invalid_json","message":"The line is not valid JSON"#))
        #expect(results[1].hasSuffix(#","line":2}}"#))
        #expect(results[11].hasPrefix(#"{"id":"12","index":11,"text":""#))
    }

    /// Logits that are not finite, in one sample of some lines: these are errors, and the others go on.
    @Test func aFaultOfTheModelIsItsLinesAlone() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(Self.prompts(12), to: "in.jsonl")
        let job = Self.job(path) {
            $0.samples = 3
            $0.maxFailures = .count(2)
            $0.ignoreEndOfSequence = true
        }
        let (_, expected) = try run(job)
        let model = ScriptedModel()
        // Lines 4 and 9 (in one all samples but the first, in the other the last), after some tokens.
        let bad = Set(
            [(4, 1), (4, 2), (9, 2)].map { RandomStream.key(seed: 17, id: "line-\($0.0)", sample: $0.1) })
        model.isFaulty = { bad.contains($1.stream) && $1.position == 3 }
        let store = MemoryStore()
        let (outcome, lines) = try run(job, model, store)
        #expect(outcome.status == .complete && outcome.statistics.failed == 2)
        #expect(outcome.failures.map(\.id) == ["line-4", "line-9"])
        #expect(lines.count == 36)
        for (position, line) in lines.enumerated() {
            if [13, 14, 29].contains(position) {
                #expect(ErrorResult.code(of: line) == "logits_not_finite")
                #expect(line.contains("not finite after 3 tokens"), "\(line)")
            } else {
                #expect(line == expected[position])
            }
        }
        // With a mended model only these are done again.
        let (mended, again) = try run(job, ScriptedModel(), store)
        #expect(mended.statistics.done == 3 && mended.statistics.failed == 0 && again == expected)
    }

    @Test func tooManyFailuresKeepTheOutputBackUntilTheyAreMended() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(Self.prompts(10) + "oops\n" + "{\"id\":\"x\"}\n", to: "in.jsonl")
        let store = MemoryStore()
        let job = Self.job(path) { $0.maxFailures = .count(1) }
        let (outcome, _) = try run(job, ScriptedModel(), store)
        #expect(outcome.status == .tooManyFailures(allowed: 1))
        #expect(store.output == nil && store.suspensions == 1)
        #expect(outcome.failures.map(\.line) == [11, 12] && outcome.failures.map(\.id) == ["11", "x"])
        // The same again: only the failed lines are tried.
        let (again, _) = try run(job, ScriptedModel(), store)
        #expect(again.status == .tooManyFailures(allowed: 1))
        #expect(again.statistics.done == 0 && again.statistics.failed == 2 && again.statistics.skipped == 10)
        // Mended: only the mended line is done.
        _ = try folder.write(
            Self.prompts(10) + "oops\n" + "{\"id\":\"x\",\"prompt\":\"now\"}\n", to: "in.jsonl")
        let (mended, lines) = try run(job, ScriptedModel(), store)
        #expect(mended.status == .complete && mended.statistics.done == 1 && mended.statistics.skipped == 10)
        #expect(lines.count == 12)
    }

    @Test func aPercentageOfFailuresMayPass() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(Self.prompts(19) + "oops\n", to: "in.jsonl")
        let (passed, _) = try run(Self.job(path) { $0.maxFailures = .percent(5) })
        #expect(passed.status == .complete)
        let (failed, _) = try run(Self.job(path) { $0.maxFailures = .percent(4.9) })
        #expect(failed.status == .tooManyFailures(allowed: 0))
    }

    @Test func samplesDifferAndEachHasItsPlace() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(Self.prompts(6) + "oops\n", to: "in.jsonl")
        let job = Self.job(path) {
            $0.samples = 3
            $0.maxFailures = .count(1)
        }
        let (outcome, lines) = try run(job)
        #expect(outcome.status == .complete && lines.count == 21 && outcome.statistics.failed == 1)
        #expect(Set(lines[..<18].map { $0.drop { $0 != "," } }).count == 18)
        let (_, single) = try run(Self.job(path) { $0.maxFailures = .count(1) })
        #expect(Array(single[..<6]) == stride(from: 0, to: 18, by: 3).map { lines[$0] })
    }

    @Test func whatTheJobSetsItEnforces() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(
            #"{"prompt":"a","max_tokens":50}"# + "\n" + #"{"prompt":"b","max_tokens":3}"# + "\n"
                + #"{"prompt":"c"}"# + "\n"
                + #"{"prompt":"d","max_tokens":3000}"#, to: "in.jsonl")
        func counts(_ change: (inout JobSettings) -> Void) throws -> [Int] {
            let model = ScriptedModel(contextLength: 1000)
            model.endOdds = .max
            let store = MemoryStore()
            _ = try Runner(job: .test(input: [path], change), model: model, store: store).run()
            return try (store.output ?? []).map { line in
                guard
                    case .int(let count)? = try JSONValue(parsing: Array(line.utf8), limits: .line)["usage"]?[
                        "completion_tokens"]
                else { return -1 }
                return count
            }
        }
        #expect(try counts { $0.maxTokens = 10 } == [10, 3, 10, 10])
        // Without a ceiling: the line's wish, the default, the end of the context.
        #expect(try counts { _ in } == [50, 3, 256, 1000 - "<user>d<assistant>".utf8.count])
    }

    @Test func ignoringTheEndOfSequenceGoesOnToTheLimit() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(Self.prompts(10), to: "in.jsonl")
        let job = JobSettings.test(input: [path]) {
            $0.ignoreEndOfSequence = true
            $0.maxTokens = 40
        }
        let model = ScriptedModel()
        model.endOdds = 3
        let (_, lines) = try run(job, model)
        #expect(
            lines.contains {
                $0.contains("\"completion_tokens\":40") && $0.contains("\"finish_reason\":\"length\"")
            })
        #expect(lines.allSatisfy { !$0.contains("\"finish_reason\":\"stop\"") })
    }

    @Test func errorsOfStoreModelAndInputLeaveTheJobResumable() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(Self.prompts(10), to: "in.jsonl")
        let store = MemoryStore()
        let full = JobError(.inputOutput, "disk full")
        store.failAppend = { $0 == 4 ? full : nil }
        #expect(throws: full) { try Runner(job: Self.job(path), model: ScriptedModel(), store: store).run() }
        #expect(store.suspensions == 1 && store.output == nil)
        let missing = MemoryStore()
        #expect(throws: JobError.self) {
            try Runner(job: Self.job("no-such-file"), model: ScriptedModel(), store: missing).run()
        }
        #expect(missing.suspensions == 1)
    }

    @Test func emptyInputIsACompleteJob() throws {
        let folder = try TemporaryFolder()
        let (outcome, lines) = try run(Self.job(try folder.write("\n \n", to: "in.jsonl")))
        #expect(outcome.status == .complete && lines.isEmpty)
    }

    @Test func stopStringsNeedATokenizer() throws {
        let model = ScriptedModel()
        model.hasTokenizer = false
        #expect(throws: JobError.self) { try Runner(job: Self.job("x"), model: model, store: MemoryStore()) }
    }

    /// The pipeline alone, with a model that answers at once: what it costs for each line.
    @Test func aHundredThousandLinesAreQuick() async throws {
        // In a process of its own, where the threads of no other test compute.
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            let folder = try TemporaryFolder()
            let text = (0..<100_000).map {
                "{\"id\":\"line-\($0)\",\"prompt\":\"What is \($0) plus one, and why?\"}\n"
            }.joined()
            let path = try folder.write(text, to: "in.jsonl")
            let job = JobSettings.test(input: [path]) {
                $0.maxTokens = 2
                $0.workers = .count(64)
                $0.checkpointInterval = 15
            }
            let (model, store) = (ScriptedModel(), MemoryStore())
            let seconds = try processorSeconds(CLOCK_PROCESS_CPUTIME_ID) {
                let outcome = try Runner(job: job, model: model, store: store).run()
                precondition(outcome.status == .complete && store.output?.count == 100_000)
            }
            print("100,000 lines through a model that answers at once: \(seconds) s of processor time")
            precondition(model.faults.isEmpty && model.liveSequences == 0)
            precondition(seconds < 20 * patience)
        }
        print(String(decoding: result?.standardOutputContent ?? [], as: UTF8.self))
    }
}

enum ErrorResult {
    static func code(of result: String) -> String? {
        guard
            case .string(let code)? = try? JSONValue(parsing: Array(result.utf8), limits: .line)["error"]?[
                "code"]
        else {
            return nil
        }
        return code
    }
}
