import Foundation
import JSON
import OperatingSystem
import TestSupport
import Testing

@testable import BatchPipeline
@testable import Jobs

/// Results of a finished output that are made again.
@Suite struct RedoTests {
    private let folder: TestFolder

    init() throws {
        folder = try TestFolder()
        try folder.write(lines: (0..<12).map { Self.line($0) })
    }

    private static func line(_ number: Int, _ ask: String = "ask") -> String {
        "{\"id\":\"l\(number)\",\"a\":\"\(ask) \(number)\",\"topic\":\"t\(number % 3)\"}"
    }

    private func job(
        _ name: String = "out.jsonl", _ change: (inout JobSettings) -> Void = { _ in }
    ) throws -> JobSettings {
        try BatchJob(
            .test(input: [folder.path("in.jsonl")]) { job in
                (job.prompt, job.temperature, job.maxTokens, job.seed) = ("{{ a }}", 0.8, 8, 5)
                // A result has no line feed, in whatever format.
                (job.keep, job.stop) = (.fields([.init("topic")]), ["\n"])
                job.output = folder.path(name)
                change(&job)
            }
        ).settings
    }

    private func store(
        _ job: JobSettings, system: FileSystem = .real
    ) throws -> LogStore {
        var job = job
        job.keepOld = 9
        return try LogStore(
            job, fingerprint: testFingerprint, StoreOptions(prunes: true), system: system)
    }

    /// As a session does it.
    @discardableResult
    private func run(
        _ job: JobSettings, redo choice: RedoChoice? = nil, _ model: ScriptedModel = ScriptedModel(),
        _ flag: StopFlag = StopFlag(), system: FileSystem = .real
    ) throws -> RunOutcome {
        func open() throws -> LogStore { try self.store(job, system: system) }
        let store = try choice?.store(of: job, note: { _, _ in }, open: open) ?? open()
        return try Runner(job: job, model: model, store: store, stopFlag: flag).run()
    }

    /// The output's lines without times.
    private func rows(_ job: JobSettings) throws -> [String] {
        try String(contentsOfFile: job.output, encoding: .utf8).split(separator: "\n").map {
            String($0).replacing(/,"timing":\{[^{}]*\}/, with: "")
        }
    }

    @Test func failedResultsAreMadeAgainWithTheSameSeed() throws {
        let (whole, job) = (try job("whole.jsonl"), try job())
        try run(whole)
        let expected = try rows(whole)
        let faulty = ScriptedModel()
        faulty.isFaulty = { tokens, _ in tokens.count % 5 == 3 }
        #expect(try run(job, faulty).status == .tooManyFailures(allowed: 0))
        #expect(try run(job).statistics.done == 0)
        let outcome = try run(job, redo: .failed)
        #expect(outcome.status == .complete && outcome.statistics.done > 0)
        #expect(try rows(job) == expected)
    }

    private func verification(_ job: JobSettings) throws -> Verification {
        try ScriptedRun.verification(job) { try store($0) }
    }

    /// All is there, as the job makes it, and known again.
    private func check(_ job: JobSettings, results: Int = 12) throws {
        let bytes = try Data(contentsOf: URL(filePath: job.output))
        let outcome = try run(job)
        #expect(outcome.status == .complete && outcome.statistics.done == 0)
        #expect(try Data(contentsOf: URL(filePath: job.output)) == bytes)
        let verified = try verification(job)
        #expect(verified.compared == results && verified.different == 0, "\(verified)")
        #expect(verified.check.faultCount == 0, "\(verified.faults)")
        let status = try JobStatus(output: job.output)
        #expect(status.state == .complete && status.done == results)
        let fresh = try #require(try JobFreshness(job, cache: .off))
        #expect(fresh.new == 0 && fresh.changed == 0 && fresh.gone == 0)
    }

    private func changes(_ before: [String], _ after: [String]) -> [Int] {
        #expect(before.count == after.count)
        return zip(before, after).enumerated().filter { $0.element.0 != $0.element.1 }.map(\.offset)
    }

    @Test(arguments: ["out.jsonl", "out.json", "out.csv"])
    func whatIsChosenIsMadeAgainAndTheRestStays(name: String) throws {
        let job = try job(name)
        try run(job)
        let (bytes, first) = (try folder.bytes(name), try rows(job))
        let choice = RedoChoice(ids: "l7\r\n\nl2")
        #expect(try choice.results(of: job).chosen.map(\.id) == ["l2", "l7"])
        #expect(try run(job, redo: choice).statistics.done == 2)
        let second = try rows(job)
        // What stands before the first result.
        let shift = first.count - 12 - (name == "out.json" ? 1 : 0)
        #expect(changes(first, second) == [2 + shift, 7 + shift])
        #expect(try folder.bytes(name + ".old-1") == bytes)
        try check(job)
        // Each redo takes the next seed.
        let again = try RedoChoice(where: "id == 'l7' and seed | int == 6")
        #expect(try run(job, redo: again).statistics.done == 1)
        let third = try rows(job)
        #expect(changes(second, third) == [7 + shift] && changes(first, third) == [2 + shift, 7 + shift])
        for seed in [6, 7] {
            let found = try RedoChoice(where: "seed | int == \(seed)").results(of: job)
            #expect(found.chosen.map(\.id) == [seed == 6 ? "l2" : "l7"] && found.total == 12)
        }
        try check(job)
    }

    /// The seed is all that is different.
    @Test func aRedoIsWhatTheNextSeedMakes() throws {
        let job = try job()
        try run(job)
        try run(job, redo: RedoChoice(where: "true"))
        let all = try self.job("next.jsonl") { $0.seed = 6 }
        try run(all)
        func texts(_ job: JobSettings) throws -> [String] {
            try rows(job).map { String($0.prefix(while: { $0 != "}" })) }
        }
        #expect(try texts(job) == texts(all))
        #expect(job.draws)
        #expect(try !self.job { $0.temperature = 0 }.draws && !self.job { $0.temperature = nil }.draws)
    }

    @Test(arguments: [1, 2, 3, 4]) func interruptedAnywhereItGoesOn(seed: UInt64) throws {
        let job = try job { $0.samples = 2 }
        try run(job)
        let before = try rows(job)
        let choice = try RedoChoice(where: "topic == 't1' and sample == 0 or id == 'l3'")
        let whole = try self.job("whole.jsonl") { $0.samples = 2 }
        try run(whole)
        try run(whole, redo: choice)
        let expected = try rows(whole)
        #expect(changes(before, expected) == [2, 6, 7, 8, 14, 20])
        var random = FixedRandom(seed)
        var (runs, resumed, isWhole) = (0, 0, false)
        while !isWhole, runs < 100 {
            var (model, flag, _, workers) = ScriptedRun.unlucky(&random, steps: 5)
            if runs > 30 { (model, flag) = (ScriptedModel(), StopFlag()) }
            var part = job
            part.engine.workers = workers
            // The same command, one without a choice, or a run.
            let choices = runs == 0 ? [choice] : [choice, RedoChoice(), nil]
            let outcome = try? run(part, redo: choices[runs % choices.count], model, flag)
            isWhole = outcome?.status == .complete
            resumed += outcome?.statistics.resumed ?? 0
            runs += 1
            if !isWhole {
                #expect(try rows(job) == before)
                #expect(try JobStatus(output: job.output).state == .stopped)
                let other = #expect(throws: UserError.self) {
                    try run(job, redo: RedoChoice(where: "id == 'l1'"))
                }
                #expect(other?.kind == .mismatch && other?.message.contains("earlier redo") == true)
            }
        }
        #expect(runs > 1 && resumed > 0)
        #expect(try rows(job) == expected)
        try check(job, results: 24)
    }

    /// Nothing is lost, wherever it dies; and what was chosen is chosen as a whole.
    @Test func killedAtAnyCallItGoesOn() throws {
        try folder.write(lines: (0..<3).map { Self.line($0) })
        let job = try job()
        try run(job)
        let files = try folder.names.map { ($0, try folder.bytes($0)) }
        let settings = try folder.bytes("out.jsonl.log")
        let before = try rows(job)
        let choice = try RedoChoice(where: "id != 'l1'")
        let counting = FaultyFileSystem()
        try run(job, redo: choice, system: counting)
        let expected = try rows(job)
        #expect(changes(before, expected) == [0, 2])
        let changing: [FaultyFileSystem.Call] = [.write, .sync, .rename, .unlink]
        for call in counting.calls.indices where changing.contains(counting.calls[call]) {
            for name in try folder.names { try FileManager.default.removeItem(atPath: folder.path(name)) }
            for (name, bytes) in files { try folder.write(bytes, to: name) }
            try folder.write(settings, to: "out.jsonl.log")
            let what: Comment = "call \(call) (\(counting.calls[call]))"
            let system = FaultyFileSystem(failing: call, with: .error(EIO), lasts: true)
            _ = try? run(job, redo: choice, system: system)
            let hasBegun = folder.isOpen
            let there = try rows(job)
            #expect(there == before || there == expected, what)
            #expect(try run(job).status == .complete)
            #expect(try rows(job) == (hasBegun ? expected : there), what)
            #expect(!folder.isOpen, what)
        }
    }

    /// A line that is edited is another line, which has never been made again.
    @Test func editedLinesBeginWithTheirSeed() throws {
        let job = try job()
        try run(job)
        let choice = RedoChoice(ids: "l2\nl7\n")
        try run(job, redo: choice)
        try folder.write(lines: (0..<12).map { Self.line($0, $0 == 2 || $0 == 5 ? "say" : "ask") })
        #expect(try JobFreshness(job, cache: .off)?.changed == 2)
        #expect(try run(job).statistics.done == 2)
        #expect(try RedoChoice(where: "seed == 6").results(of: job).chosen.map(\.id) == ["l7"])
        try check(job)
        // And so while a redo is interrupted.
        let stopped = StopFlag()
        stopped.set()
        #expect(try run(job, redo: choice, ScriptedModel(), stopped).status == .interrupted)
        try folder.write(lines: (0..<12).map { Self.line($0, $0 == 5 ? "say" : "ask") })
        try run(job)
        #expect(try RedoChoice(where: "seed > 5").results(of: job).chosen.map(\.id) == ["l7"])
        try check(job)
    }

    @Test func shardsJoinToWhatIsKnownAgain() throws {
        for index in 0..<2 {
            let shard = try job {
                $0.selection = .shard(index: index, count: 2)
                $0.chooseShardOutput()
            }
            try run(shard)
            try run(shard, redo: RedoChoice(where: "topic == 't2'"))
            try check(shard, results: 6)
        }
        _ = try ShardMerge(output: folder.path("out.jsonl"), count: 2)
        #expect(try RedoChoice(where: "seed == 6").results(of: job()).chosen.count == 4)
        try check(job())
    }

    /// All answers of one of OpenAI's requests stand in one piece, which is made as a whole.
    @Test func aPieceOfSeveralResultsIsMadeAsAWhole() throws {
        let job = try job {
            ($0.outputFormat, $0.outputFormatFollowsInput) = (ResultFormat.openAI(), false)
            $0.samples = 2
        }
        try run(job)
        let before = try rows(job)
        let choice = try RedoChoice(where: "id == 'l4'")
        #expect(try choice.results(of: job).chosen.map(\.sample) == [0, 1])
        try run(job, redo: choice)
        #expect(try changes(before, rows(job)) == [4])
        try check(job, results: 24)
    }

    @Test func failedLinesApartCanBeChosen() throws {
        try folder.write(lines: (0..<12).map { $0 == 4 ? "{\"id\":\"l4\"}" : Self.line($0) })
        let job = try job {
            $0.errors = folder.path("errors.jsonl")
            $0.maxFailures = .count(1)
        }
        try run(job)
        #expect(try RedoChoice(where: "error").results(of: job).chosen.map(\.id) == ["l4"])
        try run(job, redo: RedoChoice(ids: "l4\nl5"))
        #expect(try RedoChoice(where: "seed == 6").results(of: job).chosen.map(\.id) == ["l5"])
        let verified = try verification(job)
        #expect(verified.different == 0 && verified.check.faultCount == 0, "\(verified.faults)")
    }

    /// With steps a condition sees what each has made, and a redo may change what is accepted.
    @Test func rowsOfStepsAreMadeAgain() throws {
        let job = try job {
            $0.prompt = nil
            $0.until = 3
            $0.steps = [
                JobStep.named("word") {
                    $0.settings.prompt = "{{ a }}"
                    $0.settings.request.maxTokens = 16
                    $0.settings.schema = try? .schema(
                        parsing:
                            #"{"type":"object","properties":{"n":{"enum":[1,2,3,4]}},"required":["n"]}"#)
                },
                JobStep.named("judge") {
                    $0.settings.prompt = "{{ word.n }}"
                    $0.settings.choices = ["yes", "no"]
                    $0.accept = "judge.text == 'yes'"
                },
            ]
        }
        #expect(try run(job).status == .complete)
        for condition in ["word.n > 2 and not dropped", "dropped == 'judge'"] {
            let choice = try RedoChoice(where: condition)
            let chosen = try choice.results(of: job).chosen.map(\.id)
            #expect(!chosen.isEmpty, "\(condition)")
            let outcome = try run(job, redo: choice)
            #expect(outcome.status == .complete && outcome.statistics.accepted == 3)
            let count = try rows(job).count
            try check(job, results: count)
        }
    }

    @Test func rowsThatStayKeepWhatWasDecided() throws {
        try folder.write(lines: (0..<12).map { Self.line($0).replacing("ask \($0)", with: "ask \($0 % 4)") })
        let job = try job {
            ($0.prompt, $0.allowsEmpty) = (nil, true)
            $0.steps = [
                JobStep.named("question") {
                    $0.settings.prompt = "{{ a }}"
                    $0.settings.request.temperature = 0
                    $0.distinct = Distinctness("question.text")
                },
                JobStep.named("answer") { $0.settings.prompt = "{{ question.text }}" },
            ]
        }
        try run(job)
        #expect(try rows(job)[5].contains("\"duplicate_of\":\"l1\""))
        try run(job, redo: RedoChoice(ids: "l1\nl5"))
        #expect(
            try RedoChoice(where: "question.seed == 6").results(of: job).chosen.map(\.id) == ["l1", "l5"])
        #expect(try rows(job)[5].contains("\"duplicate_of\":\"l1\""))
        try check(job)
    }

    @Test(arguments: [
        ("text | length <", "--where"), ("answer.text == ''", "l0"), ("text.what.x == 1", "l0"),
    ]) func conditionsThatCannotBeAnsweredAreErrors(_ condition: String, _ named: String) throws {
        let job = try job()
        try run(job)
        let bytes = try folder.bytes("out.jsonl")
        let error = #expect(throws: UserError.self) { try run(job, redo: RedoChoice(where: condition)) }
        #expect(error?.kind == .usage && error?.message.contains(named) == true, "\(error as Any)")
        #expect(try folder.bytes("out.jsonl") == bytes)
        #expect(try folder.names == ["in.jsonl", "out.jsonl"])
    }

    @Test func whatCannotBeChosenIsNamed() throws {
        let job = try job()
        let early = #expect(throws: UserError.self) { try run(job, redo: RedoChoice(where: "true")) }
        #expect(early?.kind == .missingInput)
        try run(job)
        let unknown = #expect(throws: UserError.self) { try run(job, redo: RedoChoice(ids: "l3\nx2\nx1")) }
        #expect(unknown?.message == "no result has the id x1 (and 1 other of --ids).")
        let none = #expect(throws: UserError.self) { try run(job, redo: RedoChoice()) }
        #expect(none?.message.hasPrefix("say which results") == true)
        // None may be chosen.
        #expect(try run(job, redo: RedoChoice(where: "false")).statistics.done == 0)
        #expect(try folder.names == ["in.jsonl", "out.jsonl"])
    }
}
