import BatchEngine
import FoundationShim
import OperatingSystem
import TestSupport
import Testing

@testable import BatchPipeline
@testable import Jobs

/// Results are written by a thread of their own where they go to a disk.
@Suite struct SharedStoreTests {
    private let model = ScriptedModel()
    private let store = MemoryStore()
    private let folder: TestFolder
    private let job: JobSettings

    init() throws {
        folder = try TestFolder()
        job = ScriptedRun.job(try folder.write(ScriptedRun.prompts(40), to: "in.jsonl")) {
            $0.engine.workers = 3
            // In each step something would be handed over: soon more than may wait.
            $0.checkpointInterval = 15
        }
        store.positionLimit = nil
    }

    /// Nothing is written before so many steps were begun: where steps wait for it, that is never.
    private func writeOnly(after count: Int) {
        let steps = Condition(0)
        let before = model.beforeStep
        model.beforeStep = { step in
            steps.change { $0 = step }
            try before(step)
        }
        let deadline = ContinuousClock.now + .seconds(longestWait)
        store.failAppend = { _ in
            while steps.wait(atMost: 1, { $0 >= count ? true : nil }) == nil {
                if .now > deadline { return UserError(.io, at: "out.jsonl", "steps wait for the disk") }
            }
            return nil
        }
    }

    @Test func noStepWaitsForTheDisk() throws {
        writeOnly(after: 60)
        let expected = try ScriptedRun.run(job).lines
        #expect(try ScriptedRun.run(job, model, store).lines == expected)
    }

    /// Nothing is written after what went wrong, and the next run goes on from before it.
    @Test(arguments: [0, 1, 17, 38, 39]) func whatGoesWrongEndsTheRun(count: Int) throws {
        let expected = try ScriptedRun.run(job).lines
        let fault = UserError(.io, at: "out.jsonl", "the disk is full")
        store.failAppend = { $0 == count ? fault : nil }
        #expect(throws: fault) { try ScriptedRun.run(job, model, store) }
        #expect(store.appended == count && store.suspensions == 1 && store.output == nil)
        store.failAppend = nil
        let (outcome, lines) = try ScriptedRun.run(job, ScriptedModel(), store)
        #expect(lines == expected && outcome.statistics.skipped == count)
    }

    @Test func aStoppedRunWaitsForWhatItHandedOver() throws {
        let flag = StopFlag()
        model.beforeStep = { if $0 == 40 { flag.set() } }
        writeOnly(after: 40)
        let outcome = try Runner(job: job, model: model, store: store, stopFlag: flag).run()
        #expect(outcome.status == .interrupted && outcome.statistics.done > 0)
        #expect(store.appended == outcome.statistics.done && store.suspensions == 1)
    }
}
