import BatchEngine
import Foundation
import JSON
import PhiModel
import TestSupport
import Testing

@testable import BatchPipeline
@testable import Jobs

/// What is decided of rows in the input's order: duplicates, and when enough are accepted.
@Suite struct RowGatesTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// Lines have few topics, and the same topic gives the same question.
    private static let steps = [
        JobStep.named("question") { step in
            step.settings.prompt = "Ask about {{ topic }}."
            step.settings.request.temperature = 0
            step.distinct = Distinctness("question.text")
        },
        JobStep.named("judge") { step in
            step.settings.prompt = "{{ question.text }} {{ n }}"
            step.settings.choices = ["yes", "no", "perhaps"]
            step.accept = "judge.text != 'no'"
        },
        JobStep.named("answer") { step in
            step.settings.prompt = "{{ question.text }} {{ judge.text }}"
            step.distinct = Distinctness("answer.text", similarity: 0.6)
        },
    ]

    private func job(_ path: String, _ change: (inout JobSettings) -> Void = { _ in }) -> JobSettings {
        .test(input: path, steps: Self.steps, change)
    }

    private func lines(_ folder: TestFolder, _ count: Int = 60, topics: Int = 40) throws -> String {
        try folder.write(
            (0..<count).map {
                let topic = $0 * 7 % topics
                let words = String(repeating: "thing ", count: topic % 9)
                return "{\"id\":\"r\($0)\",\"topic\":\"\(words)\(topic)\",\"n\":\($0)}\n"
            }.joined(), to: "in.jsonl")
    }

    private static func member(_ line: String, _ name: String) -> String? {
        (try? ScriptedRun.row(line))?.string(name)
    }

    @Test func duplicatesAreThoseOfEarlierRowsHoweverTheyRun() throws {
        let job = job(try lines(folder))
        let lines = try ScriptedRun.inManyWays(job) { outcome, lines, _ in
            #expect(outcome.status == .complete && lines.count == 60)
        }
        var first: [String: String] = [:]
        for (number, line) in lines.enumerated() {
            let topic = try #require(Self.member(line, "topic"))
            let isDuplicate = Self.member(line, "dropped") == "question"
            #expect((first[topic] != nil) == isDuplicate, "\(line)")
            if isDuplicate {
                #expect(Self.member(line, "duplicate_of") == first[topic])
            } else {
                first[topic] = "r\(number)"
            }
        }
        #expect(first.count == 40)
    }

    @Test func enoughIsEnoughHoweverTheyRun() throws {
        let path = try lines(folder, 90, topics: 80)
        let all = try ScriptedRun.run(job(path)).lines
        let accepted = all.indices.filter { Self.member(all[$0], "dropped") == nil }
        #expect(accepted.count > 12)
        for samples in [1, 3] {
            let all = samples == 1 ? all : try ScriptedRun.run(job(path) { $0.samples = samples }).lines
            let accepted = all.indices.filter { Self.member(all[$0], "dropped") == nil }
            let end = (accepted[9] / samples + 1) * samples
            try ScriptedRun.inManyWays(
                job(path) {
                    $0.until = 10
                    $0.samples = samples
                }
            ) { outcome, lines, _ in
                #expect(outcome.status == .complete && lines == Array(all[..<end]))
            }
        }
        let more = try ScriptedRun.run(job(path) { $0.until = accepted.count + 1 })
        #expect(
            more.outcome.status == .tooFewAccepted(accepted: accepted.count, wanted: accepted.count + 1)
                && more.lines.isEmpty)
        let just = try ScriptedRun.run(job(path) { $0.until = accepted.count })
        #expect(just.outcome.status == .complete && just.lines == Array(all[...accepted[accepted.count - 1]]))
    }

    /// What failed beyond the rows that are needed is nobody's fault.
    @Test func failuresBeyondEnoughDoNotCount() throws {
        let path = try lines(folder, 30)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let broken = try folder.write(text + "{\n{\"id\":\"x\"}\n", to: "broken.jsonl")
        try ScriptedRun.inManyWays(
            job(broken) {
                $0.until = 5
                $0.maxFailures = .count(0)
            }
        ) { outcome, lines, _ in #expect(outcome.status == .complete && outcome.statistics.failed == 0) }
        let (outcome, _) = try ScriptedRun.run(job(broken))
        #expect(outcome.statistics.failed == 2)
    }

    @Test(arguments: [1, 2, 3, 4, 5, 6, 7, 8])
    func stoppedAnywhereTheRowsAreTheSame(seed: UInt64) throws {
        let path = try lines(folder)
        for until in [nil, 12] {
            let job = job(path) { $0.until = until }
            let expected = try ScriptedRun.run(job).lines
            #expect(try ScriptedRun.stopped(job, seed: seed, steps: 30) == expected)
        }
    }

    @Test func selectionsHaveNames() {
        let ended = LineSelection(wanted: 20).ended(after: 31)
        #expect(ended.name == "accepted 20 of 31" && LineSelection(name: "accepted 20 of 31") == ended)
        #expect(ended.holds(30) && !ended.holds(31) && ended.count(of: 90) == 31)
        #expect(LineSelection(wanted: 20).name == nil)
        let shard = LineSelection.Shard(index: 1, count: 3)
        let own = LineSelection(shard: shard, lines: [9], wanted: 20)
        #expect(own.name == "2/3 accepted 20 of 9" && own.ownWanted == 7)
        #expect(own.holds(25) && !own.holds(28) && !own.holds(24) && own.place(of: 8) == 25)
        #expect(own.count(of: 26) == 9 && own.count(of: 10) == 3 && own.reach(in: 90) == 26)
        let joined = LineSelection(lines: [2, 5, 1], wanted: 20)
        #expect(joined.name == "accepted 20 of 2+5+1")
        let places = (0..<30).filter { joined.holds($0) }
        #expect(places == [0, 1, 2, 3, 4, 7, 10, 13] && (0..<8).map { joined.place(of: $0) } == places)
        #expect(joined.count(of: 8) == 6 && joined.reach(in: 90) == 14)
        for selection in [own, joined, .init(lines: [1, 2])] {
            #expect(selection.name.flatMap { LineSelection(name: $0) } == selection)
        }
        #expect((0..<3).map { LineSelection.Shard(index: $0, count: 3).share(of: 20) } == [6, 7, 7])
        for name in [
            "accepted 0 of 3", "accepted 2 of", "accepted x of 3", "", "2/1", "joined 3", "1/2 joined 1+2",
        ] {
            #expect(LineSelection(name: name) == nil)
        }
        #expect(LineSelection.all.ended(after: nil) == .all)
    }

    @Test func whatComesInAnyOrderIsGivenOutInOrder() {
        var things = InOrder<String>()
        for (number, thing) in [(2, "c"), (0, "a"), (2, "again")] { things.add(thing, at: number) }
        #expect(things.pop() == "a" && things.pop() == nil && things.next == 1)
        #expect(Array(things.waiting) == ["c"])
        things.add("late", at: 0)
        things.add("b", at: 1)
        #expect(things.pop() == "b" && things.pop() == "c" && things.pop() == nil && things.next == 3)
    }
}
