import BatchEngine
import Foundation
import PhiModel
import TestSupport
import Testing

@testable import BatchPipeline
@testable import Jobs

/// Runs that are stopped or end early, and are taken up again.
@Suite struct RunStopTests {
    @Test(arguments: [1, 2, 3, 4, 5, 6, 7, 8])
    func interruptedRunsEndWithTheSameResults(seed: UInt64) throws {
        let folder = try TestFolder()
        let path = try folder.write(ScriptedRun.prompts(40), to: "in.jsonl")
        let (_, expected) = try ScriptedRun.run(ScriptedRun.job(path))
        var resumed = 0
        let lines = try ScriptedRun.stopped(ScriptedRun.job(path), seed: seed) { outcome, store in
            resumed += outcome.statistics.resumed
            #expect((outcome.status == .complete) == (store.output != nil))
        }
        #expect(resumed > 0 && lines == expected)
    }

    @Test func statusCountsSamples() throws {
        let folder = try TestFolder()
        let lines =
            [#"{"prompt":"short","max_tokens":1}"#]
            + (1...3).map { #"{"prompt":"long \#($0)","max_tokens":3500}"# }
        try folder.write(lines.map { $0 + "\n" }.joined().utf8, to: "in.jsonl")
        let store = try LogStore(
            output: folder.path("out.jsonl"), fingerprint: testFingerprint, samples: 3)
        let flag = StopFlag()
        let model = ScriptedModel()
        model.endOdds = .max
        // In the middle, once the whole input has been read: another thread does that, when it gets to it.
        model.beforeStep = { _ in
            let progress = try JobStatus(output: folder.path("out.jsonl")).progress
            if progress?.resultsTotal != nil, progress?.doneThisRun ?? 0 > 0 { flag.set() }
        }
        let job = JobSettings.test(input: [folder.path("in.jsonl")]) { $0.samples = 3 }
        let outcome = try Runner(job: job, model: model, store: store, stopFlag: flag).run()
        let status = try JobStatus(output: folder.path("out.jsonl"))
        #expect(outcome.status == .interrupted && status.done > 0 && status.inFlight > 0)
        #expect(status.progress?.resultsTotal == 12)
    }

    /// A stop that is asked for while the output is put in place comes too late, and is told so.
    @Test func aRunThatEndsDoesNotStop() throws {
        let folder = try TestFolder()
        let path = try folder.write(ScriptedRun.prompts(5), to: "in.jsonl")
        let store = MemoryStore()
        let flag = StopFlag()
        var wasTaken: Bool?
        store.atFinish = { wasTaken = flag.set() }
        let outcome = try Runner(
            job: ScriptedRun.job(path), model: ScriptedModel(), store: store, stopFlag: flag
        )
        .run()
        #expect(outcome.status == .complete && wasTaken == false && !flag.isSet && store.output != nil)
        // Asked for before, it is heeded.
        let early = StopFlag()
        #expect(early.set() && early.isSet && early.set())
        let stopped = try Runner(
            job: ScriptedRun.job(path), model: ScriptedModel(), store: MemoryStore(), stopFlag: early
        )
        .run()
        #expect(stopped.status == .interrupted)
    }

    @Test func savedTokensThatCannotBeOursAreNotUsed() throws {
        let folder = try TestFolder()
        let path = try folder.write(ScriptedRun.prompts(5), to: "in.jsonl")
        let (_, expected) = try ScriptedRun.run(ScriptedRun.job(path))
        for tokens: [Int32] in [[-1], [1_000_000], [0], [259], Array(repeating: 261, count: 60)] {
            let store = MemoryStore()
            store.known = { key in
                let saved = SavedDecoding(tokens: tokens, notes: tokens.map { _ in "{}" })
                return .inFlight(InFlightRecord(key: key, saved: saved))
            }
            _ = try Runner(job: ScriptedRun.job(path), model: ScriptedModel(), store: store).run()
            #expect(store.output?.map(withoutTiming) == expected)
        }
    }
}
