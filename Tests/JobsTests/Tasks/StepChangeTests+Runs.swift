import BatchEngine
import Foundation
import JSON
import PhiModel
import TestSupport
import Testing

@testable import BatchPipeline
@testable import Jobs

/// Runs that are stopped, edited or made again while steps change.
extension StepChangeTests {
    @Test(arguments: [1, 2, 3, 4]) func interruptedAnywhereItGoesOn(seed: UInt64) throws {
        var random = FixedRandom(seed)
        let old = try job()
        let hasOutput = seed % 2 == 0
        // Where it is not finished, its journal is all that there is.
        let stopped = stopping(at: hasOutput ? .max : 700)
        #expect((try? run(old, on: stopped).outcome.status == .complete) ?? false == hasOutput)
        let job = try job(changed("answer"))
        let (expected, _) = try fresh(job)
        var (runs, isWhole, asksQuestions) = (0, false, false)
        let start = "<user>Ask about".utf8.map { Int32($0) }
        while !isWhole, runs < 100 {
            var (model, flag, _, workers) = ScriptedRun.unlucky(&random, steps: 30)
            if runs > 30 { (model, flag) = (ScriptedModel(), StopFlag()) }
            model.isFaulty = { tokens, _ in
                asksQuestions = asksQuestions || tokens.starts(with: start)
                return false
            }
            var part = job
            (part.engine.workers, part.checkpointInterval) = (workers, 0)
            let outcome = try? run(part, runs % 2 == 0 ? .restart : .refuse, on: model, flag).outcome
            isWhole = outcome?.status == .complete
            runs += 1
            #expect(folder.isOpen == !isWhole)
        }
        #expect(runs > 2)
        #expect(try text(job) == expected)
        // No question of rows that were there is asked again, in whichever run.
        #expect(asksQuestions == !hasOutput)
    }

    /// Wherever it dies, nothing is lost, and nothing that is there is made anew.
    @Test(arguments: [true, false]) func killedAtAnyCallItGoesOn(isFinished: Bool) throws {
        try write(3)
        let old = try job()
        let stopped = stopping(at: isFinished ? .max : 150)
        #expect((try? run(old, on: stopped).outcome.status == .complete) ?? false == isFinished)
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.url.path).map {
            ($0, try folder.bytes($0))
        }
        let job = try job(changed("close"))
        let (expected, all) = try fresh(job)
        let counting = FaultyFileSystem()
        let needed = try run(job, system: counting).model.admissions
        #expect(try text(job) == expected)
        #expect(needed < all && needed > 0)
        let changing: [FaultyFileSystem.Call] = [.write, .sync, .rename, .unlink, .name]
        for call in counting.calls.indices where changing.contains(counting.calls[call]) {
            for name in try FileManager.default.contentsOfDirectory(atPath: folder.url.path) {
                try FileManager.default.removeItem(atPath: folder.path(name))
            }
            for (name, bytes) in files { try folder.write(bytes, to: name) }
            let what: Comment = "call \(call) (\(counting.calls[call]))"
            let system = FaultyFileSystem(failing: call, with: .error(EIO), lasts: true)
            _ = try? run(job, system: system)
            let (outcome, model) = try run(job)
            #expect(outcome.status == .complete, what)
            #expect(try text(job) == expected, what)
            #expect(model.admissions <= needed, what)
            #expect(!folder.isOpen, what)
        }
    }

    // MARK: What else there may be

    /// The results of several runs: each row is taken of the one that has most of it.
    @Test func aChangeAfterAChangeThatWasNotFinished() throws {
        let old = try job()
        try run(old)
        let before = try text(old)
        let model = stopping(at: 100)
        var second = changed("answer")
        #expect(throws: UserError.self) { try run(job(second), on: model) }
        // Now the judge, too: of rows that the second run has made, it takes the answers.
        second[4].settings.prompt? += "?"
        let third = try job(second) { $0.checkpointInterval = 0 }
        let (expected, _) = try fresh(third)
        let answered = try made(expected).values.count { $0.contains("answer") }
        let judged = try made(expected).values.count { $0.contains("judge") }
        let stopped = stopping(at: 40)
        #expect(throws: UserError.self) { try run(third, on: stopped) }
        let again = try store(third, .refuse)
        #expect(again.rowsFrom.count == 2)
        try again.suspend()
        let taken = try run(third).model.admissions + stopped.admissions
        #expect(try text(third) == expected)
        #expect(taken > judged && taken < judged + answered)
        // Back to the first while another is begun: there is nothing to make.
        let other = stopping(at: 40)
        try run(old, restart: true)
        #expect(throws: UserError.self) { try run(job(changed("title")), on: other) }
        let (outcome, none) = try run(old)
        #expect(outcome.status == .complete && none.admissions == 0)
        #expect(try text(old) == before)
    }

    @Test func anotherSettingChangesWhatItAppliesTo() throws {
        try run(job())
        // Questions have a temperature of their own, and are asked once for each topic.
        let warmer = try job { $0.temperature = 0.8 }
        let (expectedRows, requests) = try fresh(warmer)
        #expect(try run(warmer).model.admissions == requests - 20)
        #expect(try text(warmer) == expectedRows)
        let job = try job(changed("close")) { $0.seed = 6 }
        let (expected, all) = try fresh(job)
        #expect(try run(job).model.admissions == all)
        #expect(try text(job) == expected)
        // And so does a wholly new beginning, also when it is interrupted, and the steps change again.
        let again = try self.job { $0.seed = 6 }
        #expect(try run(again, restart: true).model.admissions == fresh(again).admissions)
        let stop = StopFlag()
        stop.set()
        try run(again, restart: true, on: ScriptedModel(), stop)
        #expect(try run(job).model.admissions == all)
        #expect(try text(job) == expected)
    }

    @Test func refusalsNameTheWay() throws {
        try run(job())
        let error = #expect(throws: UserError.self) { try run(job(changed("close")), .refuse) }
        #expect(
            error?.message.contains("make only what the change concerns again (--if-changed restart)") == true
        )
        let other = #expect(throws: UserError.self) { try run(job { $0.seed = 6 }, .refuse) }
        #expect(other?.message.contains("--if-changed restart") == true)
    }

    /// A step names another field, so that lines are known by other hashes; some lines are edited, and some are new.
    @Test func linesThatAreEditedAreMadeWhole() throws {
        try write(12)
        try run(job())
        let before = try text(job()).split(separator: "\n").filter { !$0.contains("\"id\":\"l3\"") }
        let steps = steps("close") { $0.settings.prompt = "{{ n }} so {{ topic }} {{ more }}" }
        let lines = (0..<14).map { number in
            "{\"id\":\"l\(number)\",\"topic\":\"\(number == 3 ? "u" : "t\(number)")\",\"n\":\(number),\"more\":\(number)}\n"
        }
        try folder.write(lines.joined().utf8, to: "in.jsonl")
        let job = try job(steps)
        let (expected, _) = try fresh(job)
        let missing = try missing(
            expected, before.joined(separator: "\n"), ["question", "title", "note", "answer", "judge"])
        let admissions = try run(job).model.admissions
        #expect(try text(job) == expected)
        // A row has the last of several tries.
        #expect((missing...missing + 3).contains(admissions))
    }

    /// What was made again has another seed than a run from nothing takes.
    @Test func redoneRowsAreMadeWhole() throws {
        let old = try job()
        try run(old)
        let choice = RedoChoice(ids: "l2\nl5")
        let store = try choice.store(of: old, note: { _, _ in }, open: { try self.store(old, .refuse) })
        _ = try Runner(job: old, model: ScriptedModel(), store: store).run()
        let job = try job(changed("close"))
        let (expected, _) = try fresh(job)
        try run(job)
        #expect(try text(job) == expected)
    }

    /// Results that were kept, each of other steps.
    @Test func ofKeptResultsEachIsTakenAsItWasMade() throws {
        try write(6)
        try run(job(changed("answer")))
        try write(12)
        try run(job(), .keep)
        let job = try job(changed("close"))
        let (expected, _) = try fresh(job)
        let rows = try made(expected)
        let closed = rows.values.count { $0.contains("close") }
        let answers = (0..<6).reduce(0) {
            $0 + (rows["l\($1)"] ?? []).count { ["answer", "judge"].contains($0) }
        }
        #expect(try run(job).model.admissions == closed + answers)
        #expect(try text(job) == expected)
    }

    @Test func enoughRowsAreTakenOver() throws {
        let old = try job { $0.until = 3 }
        try run(old)
        for name in ["close", "accept"] {
            let job = try job(changed(name)) { $0.until = 6 }
            let (expected, all) = try fresh(job)
            let (outcome, model) = try run(job)
            #expect(outcome.statistics.accepted == 6 && model.admissions < all)
            #expect(try text(job) == expected)
        }
    }

    /// A file that is gone is said to be, and its rows are made whole.
    @Test func whatIsGoneIsTold() throws {
        let stopped = stopping(at: 700)
        let old = try job()
        #expect(throws: UserError.self) { try run(old, on: stopped) }
        let job = try job(changed("close"))
        try store(job, .restart).suspend()
        try FileManager.default.removeItem(atPath: folder.path("out.jsonl.old-1.log"))
        let store = try store(job, .refuse)
        #expect(
            store.notes.contains { $0.hasPrefix("out.jsonl.old-1.log: is not there any more") },
            "\(store.notes)")
        try store.suspend()
        let (expected, all) = try fresh(job)
        #expect(try run(job).model.admissions == all)
        #expect(try text(job) == expected)
    }
}
