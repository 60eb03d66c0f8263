import BatchEngine
import Foundation
import Testing

@testable import BatchPipeline
@testable import Jobs

/// Several jobs in one loop, each with its own input, output, settings, statistics and failure limit.
@Suite struct JobRunTests {
    private struct Job {
        var settings: JobSettings
        var output: String
    }

    private func jobs(_ folder: TestFolder) throws -> [Job] {
        try folder.write((ScriptedRun.prompts(50) + "oops\n").utf8, to: "first.jsonl")
        try folder.write(ScriptedRun.prompts(35, seed: 8).utf8, to: "second.jsonl")
        let first = ScriptedRun.job(folder.path("first.jsonl")) {
            $0.engine.workers = 5
            $0.maxFailures = .count(1)
        }
        let second = JobSettings.test(input: [folder.path("second.jsonl")]) {
            $0.engine.workers = 3
            $0.maxTokens = 30
            $0.samples = 2
        }
        return [Job(settings: first, output: "first.out"), Job(settings: second, output: "second.out")]
    }

    private func store(_ job: Job, _ folder: TestFolder, prefix: String) throws -> LogStore {
        try LogStore(
            output: folder.path(prefix + job.output), fingerprint: testFingerprint,
            samples: job.settings.sampleCount)
    }

    private func lines(_ name: String, _ folder: TestFolder) throws -> [String] {
        let timing = /,"timing":{[^{}]*}/
        return try folder.text(name).replacing(timing, with: "").split(separator: "\n").map(String.init)
    }

    private func alone(_ jobs: [Job], _ folder: TestFolder) throws -> [RunOutcome] {
        try jobs.map { job in
            try Runner(
                job: job.settings, model: ScriptedModel(), store: store(job, folder, prefix: "alone-")
            ).run()
        }
    }

    private func together(
        _ jobs: [Job], _ folder: TestFolder, _ model: ScriptedModel, flags: [StopFlag],
        beforeStep: @escaping (BatchLoop, [JobRun]) -> Void = { _, _ in }
    ) throws -> [RunOutcome] {
        let models = ModelLoader { model.loaded }
        let loop = BatchLoop(engine: model, workers: 8, prefillChunk: 32)
        let runs = try zip(jobs, flags).map { job, flag in
            try JobRun(
                job: job.settings, models: models, store: store(job, folder, prefix: ""), stopFlag: flag)
        }
        for run in runs { loop.add(run) }
        model.beforeStep = { _ in beforeStep(loop, runs) }
        loop.run()
        #expect(model.faults.isEmpty && model.liveSequences == 0, "\(model.faults)")
        return try runs.map { try #require($0.result).get() }
    }

    @Test(arguments: [Int.max, 500]) func eachOneIsWhatItIsAlone(room: Int) throws {
        let folder = try TestFolder()
        let jobs = try jobs(folder)
        let expected = try alone(jobs, folder)
        let model = ScriptedModel()
        model.room = room
        model.looksAhead = false
        let outcomes = try together(jobs, folder, model, flags: [StopFlag(), StopFlag()])
        if room == .max { #expect(model.largestBatch == 8) }
        for (job, (outcome, expected)) in zip(jobs, zip(outcomes, expected)) {
            #expect(try lines(job.output, folder) == lines("alone-" + job.output, folder))
            #expect(outcome.status == .complete)
            #expect(outcome.statistics.done == expected.statistics.done)
            #expect(outcome.statistics.failed == expected.statistics.failed)
            #expect(outcome.statistics.promptTokens == expected.statistics.promptTokens)
            #expect(outcome.statistics.completionTokens == expected.statistics.completionTokens)
        }
        #expect(outcomes[0].failures.count == 1 && outcomes[1].failures.isEmpty)
    }

    @Test func oneIsStoppedAndTheOtherGoesOn() throws {
        let folder = try TestFolder()
        let jobs = try jobs(folder)
        _ = try alone(jobs, folder)
        let model = ScriptedModel()
        let flags = [StopFlag(), StopFlag()]
        // Once some of its lines are done and others are under way: the next pass may be the last of one.
        let outcomes = try together(jobs, folder, model, flags: flags) { loop, runs in
            let live = loop.live(of: runs[0])
            if runs[0].statistics.done > 0,
                live.count(where: {
                    runs[0].open[$0.request.number]?.label.position ?? 0 >= 8 && $0.decoding.progress > 2
                }) > 1
            {
                flags[0].set()
            }
        }
        #expect(outcomes.map(\.status) == [.interrupted, .complete])
        #expect(try lines("second.out", folder) == lines("alone-second.out", folder))
        let again = try Runner(
            job: jobs[0].settings, model: ScriptedModel(), store: store(jobs[0], folder, prefix: "")
        ).run()
        #expect(again.status == .complete && again.statistics.resumed > 0 && again.statistics.skipped > 0)
        #expect(try lines("first.out", folder) == lines("alone-first.out", folder))
    }

    @Test func whatOneLeavesUnfinishedIsItsOwnAffair() throws {
        let folder = try TestFolder()
        var jobs = try jobs(folder)
        jobs[0].settings.maxFailures = .count(0)
        _ = try alone([jobs[1]], folder)
        let outcomes = try together(jobs, folder, ScriptedModel(), flags: [StopFlag(), StopFlag()])
        #expect(outcomes.map(\.status) == [.tooManyFailures(allowed: 0), .complete])
        #expect(try lines("second.out", folder) == lines("alone-second.out", folder))
    }
}
