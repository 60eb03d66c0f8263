import BatchEngine
import Foundation
import JSON
import PhiModel
import PhiText
import TestSupport
import Testing

@testable import BatchPipeline
@testable import Jobs

/// Jobs over scripted models, and what comes of them.
enum ScriptedRun {
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

    static func run(
        _ job: JobSettings, _ model: ScriptedModel = ScriptedModel(), _ store: MemoryStore = MemoryStore()
    ) throws
        -> (outcome: RunOutcome, lines: [String])
    {
        store.samples = job.sampleCount
        let outcome = try Runner(job: job, model: model, store: store).run()
        #expect(model.faults.isEmpty, "\(model.faults)")
        #expect(model.liveSequences == 0)
        return (outcome, (store.output ?? []).map(withoutTiming))
    }

    /// Each of the lines fails with its code and message, and a good one after it is done.
    static func expectFailures(
        _ lines: [(line: String, code: String, message: String)], beside good: String,
        _ job: (String) -> JobSettings
    ) throws {
        let folder = try TestFolder()
        let path = try folder.write(lines.map { "\($0.line)\n\(good)\n" }.joined(), to: "in.jsonl")
        let model = ScriptedModel(contextLength: 64)
        model.faultyToken = Int32(UInt8(ascii: "Z"))
        let (outcome, results) = try run(job(path), model)
        #expect(outcome.statistics.failed == lines.count && outcome.statistics.done == lines.count)
        for (number, wrong) in lines.enumerated() {
            guard let failure = try result(results[2 * number]).failure else {
                Issue.record("\(wrong.line)")
                continue
            }
            #expect(failure.code.rawValue == wrong.code, "\(wrong.line.prefix(80))")
            #expect(failure.message.contains(wrong.message), "\(failure.message)")
        }
    }

    /// A model that crashes in some step, or sets a flag there, and how many requests run together.
    static func unlucky(
        _ random: inout FixedRandom, steps: Int = 25
    ) -> (model: ScriptedModel, flag: StopFlag, crashes: Bool, workers: Int) {
        let (model, flag) = (ScriptedModel(), StopFlag())
        let crashes = Bool.random(using: &random)
        let last = Int.random(in: 1...steps, using: &random)
        model.beforeStep = { step in
            guard step == last else { return }
            if crashes { throw UserError(.resources, "out of luck") }
            flag.set()
        }
        return (model, flag, crashes, Int.random(in: 1...9, using: &random))
    }

    /// What a job comes to that is stopped over and over, each time with another number of workers.
    static func stopped(
        _ job: JobSettings, seed: UInt64, steps: Int = 25, reasonings: ReasoningText? = nil,
        each: (RunOutcome, MemoryStore) -> Void = { _, _ in }
    ) throws -> [String]? {
        var random = FixedRandom(seed)
        let store = MemoryStore()
        store.samples = job.sampleCount
        var runs = 0
        while store.output == nil, runs < 200 {
            let (model, flag, crashes, workers) = unlucky(&random, steps: steps)
            model.reasonings = reasonings
            var job = job
            job.engine.workers = workers
            do {
                each(try Runner(job: job, model: model, store: store, stopFlag: flag).run(), store)
            } catch { #expect(crashes) }
            runs += 1
        }
        #expect(runs > 2)
        return store.output?.map(withoutTiming)
    }

    /// The same job with few and many workers, in small pieces, with much in the cache and with little room.
    /// - Returns: its lines, which are the same in all ways.
    @discardableResult
    static func inManyWays(
        _ job: JobSettings, reasonings: ReasoningText? = nil,
        _ body: (RunOutcome, [String], ScriptedModel) throws -> Void
    ) throws -> [String] {
        var expected: [String]?
        for (workers, chunk, room, cached) in [
            (1, 512, Int.max, 0), (7, 13, .max, 9), (32, 1, .max, 3), (5, 64, 400, 200), (8, 3, 330, 0),
        ] {
            let model = ScriptedModel()
            model.reasonings = reasonings
            (model.room, model.looksAhead, model.cachedTokens) = (room, false, cached)
            var job = job
            job.engine.workers = workers
            job.engine.prefillChunk = chunk
            job.engine.speculation = cached > 0 ? .tokens(chunk % 7 + 1) : .off
            let (outcome, lines) = try run(job, model)
            #expect(lines == expected ?? lines)
            expected = lines
            try body(outcome, lines, model)
        }
        return expected ?? []
    }

    /// A result of `lines`, whose end is cut off with the timing.
    static func result(_ line: String) throws -> GenerationResult {
        let text = line.contains("\"error\"") ? String(line.dropLast()) : line
        let members = text.replacing(/^\{"id":"(?:[^"\\]|\\.)*",(?:"(?:index|sample)":\d+,)*/, with: "")
        let record = "{\"id\":\"\",\"sample\":0,\(members),\"line_hash\":\"0\",\"run\":\"\"}"
        return try #require(Array(record.utf8).withUnsafeBytes { ResultRecord($0) }?.result, "\(line)")
    }

    /// A job's store, as a session opens it.
    static func store(
        _ job: JobSettings, _ change: (inout StoreOptions) -> Void = { _ in }
    ) throws -> LogStore {
        var options = StoreOptions()
        change(&options)
        return try LogStore(job, fingerprint: testFingerprint, options)
    }

    /// A run of a job with its store, which may be stopped in some step.
    @discardableResult
    static func run(_ job: JobSettings, restart: Bool = false, stoppingAt step: Int) throws -> RunOutcome {
        let (model, flag) = (ScriptedModel(), StopFlag())
        model.beforeStep = { if $0 == step { flag.set() } }
        let store = try store(job) { $0.restart = restart }
        return try Runner(job: job, model: model, store: store, stopFlag: flag).run()
    }

    /// Verifies a job's output by runs whose stores `store` opens.
    static func verification(
        _ job: JobSettings, lines: Int = .max,
        store: (JobSettings) throws -> LogStore = { try ScriptedRun.store($0) }
    ) throws -> Verification {
        func run(_ again: BatchJob) throws -> RunStatistics {
            let store = try store(again.settings)
            store.others = try FinishedOutput(job.output)
            return try Runner(job: again.settings, model: ScriptedModel(), store: store).run().statistics
        }
        return try Verification(
            BatchJob(job), results: job.output, errors: job.errors, sample: { _ in lines }, run: run)
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
