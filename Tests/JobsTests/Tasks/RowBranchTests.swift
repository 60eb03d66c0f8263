import BatchEngine
import Foundation
import JSON
import TestSupport
import Testing

@testable import BatchPipeline
@testable import Jobs

/// Steps that make several rows of one.
@Suite struct ForkTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private static let question = JobStep.named("question") { step in
        step.settings.prompt = "Ask about {{ topic }}."
        step.settings.samples = 3
        step.distinct = Distinctness("question.text")
    }
    private static let answer = JobStep.named("answer") { step in
        step.settings.prompt = "{{ question.text }}"
        step.settings.samples = 2
    }
    private static let note = JobStep.named("note") { step in
        step.settings.prompt = "{{ answer.text }}!"
        step.condition = "answer.text | length > 20"
    }
    /// The words of an answer, of which an empty one has one, too.
    private static let words = JobStep.named("word") { step in
        step.each = "question.text.split(' ')"
        step.settings.samples = 4
        step.settings.prompt = "{{ item }} {{ question.text }}"
    }

    private func job(_ path: String, _ steps: [JobStep], samples: Int? = nil) -> JobSettings {
        .test(input: path, steps: steps) { $0.samples = samples }
    }

    private func lines(_ folder: TestFolder, _ count: Int = 12) throws -> String {
        try folder.write(
            (0..<count).map { "{\"id\":\"r\($0)\",\"topic\":\"\($0 % 10)\"}\n" }.joined(), to: "in.jsonl")
    }

    private static func text(_ row: JSONValue, _ name: String) -> String? {
        row[name].map { JSONWriter.text(of: $0) }
    }

    @Test func rowsOfOneHaveInCommonWhatIsBeforeThem() throws {
        let steps = [Self.question, Self.answer, Self.note]
        let job = job(try lines(folder), steps, samples: 2)
        #expect(job.sampleCount == 12)
        let expected = try ScriptedRun.inManyWays(job) { outcome, lines, _ in
            #expect(outcome.status == .complete && lines.count == 12 * 12)
        }
        let rows = try expected.map(ScriptedRun.row)
        var asked = 0
        for start in stride(from: 0, to: rows.count, by: 2) {
            let pair = rows[start..<start + 2]
            #expect(Set(pair.map { Self.text($0, "question") }).count == 1)
            asked += 1
            if pair.first?.string("dropped") == nil {
                #expect(Set(pair.map { Self.text($0, "answer") }).count == 2)
                asked += 2 + pair.count { $0["note"] != nil }
            } else {
                #expect(pair.allSatisfy { $0.string("dropped") == "question" })
            }
        }
        #expect(Set(rows.map { Self.text($0, "question") }).count > 60)
        // One by one, so that nothing is admitted twice.
        let model = ScriptedModel()
        var alone = job
        alone.engine.workers = 1
        _ = try ScriptedRun.run(alone, model)
        #expect(model.admissions == asked)
    }

    @Test func aListMakesARowOfEachItem() throws {
        var question = Self.question
        question.settings.samples = nil
        let later = JobStep.named("later") { $0.settings.prompt = "{{ item }} {{ word.text }}" }
        var words = Self.words
        words.each = "question.text.split('a')"
        let job = job(try lines(folder), [question, words, later])
        let expected = try ScriptedRun.inManyWays(job) { outcome, _, _ in
            #expect(outcome.statistics.tally[.dropped(by: "word", .noItem)] ?? 0 > 0)
        }
        for (number, line) in expected.enumerated() {
            let row = try ScriptedRun.row(line)
            let words = try #require(row["question"]?.string("text")).split(
                separator: "a", omittingEmptySubsequences: false)
            if row.string("duplicate_of") != nil { continue }
            if number % 4 < words.count {
                #expect(row.string("item") == String(words[number % 4]))
                #expect(row["word"] != nil && row["later"] != nil && row["dropped"] == nil)
            } else {
                #expect(row.string("dropped") == "word" && row["word"] == nil && row["item"] == nil)
            }
        }
    }

    /// Lines that have a list of their own, and lines that need nothing of the first step.
    @Test func theFirstStepMayMakeRowsOfALinesOwnList() throws {
        let path = try folder.write(
            (0..<12).map { number in
                let items = (0..<number % 5).map { "\"thing \($0)\"" }.joined(separator: ",")
                return "{\"id\":\"r\(number)\",\"things\":[\(items)]}\n"
            }.joined(), to: "in.jsonl")
        let first = JobStep.named("question") { step in
            step.each = "things"
            step.settings.samples = 3
            step.settings.prompt = "Ask about {{ item }}."
        }
        let second = JobStep.named("answer") { $0.settings.prompt = "{{ question.text }}" }
        let expected = try ScriptedRun.inManyWays(job(path, [first, second])) { outcome, lines, _ in
            #expect(outcome.status == .complete && lines.count == 36, "\(outcome.failures)")
            let rows = try lines.map(ScriptedRun.row)
            for (number, row) in rows.enumerated() {
                let hasItem = number % 3 < number / 3 % 5
                #expect(row.string("item") == (hasItem ? "thing \(number % 3)" : nil))
                #expect(row.string("dropped") == (hasItem ? nil : "question"))
            }
            let made = rows.count { $0["answer"] != nil }
            #expect(
                outcome.statistics.tally == [.accepted: made, .dropped(by: "question", .noItem): 36 - made])
        }
        let kept = try ScriptedRun.stopped(job(path, [first, second]), seed: 3, steps: 20)
        #expect(kept == expected)
    }

    @Test func theFirstStepMayBePassedOver() throws {
        var steps = [Self.question, Self.note]
        steps[0].settings.samples = nil
        steps[0].condition = "topic | int > 4"
        steps[1].settings.prompt = "{{ (question or {'text': topic}).text }}"
        steps[1].condition = nil
        try ScriptedRun.inManyWays(job(try lines(folder), steps)) { outcome, lines, _ in
            #expect(outcome.status == .complete, "\(outcome.failures)")
            for (number, line) in lines.enumerated() {
                let row = try ScriptedRun.row(line)
                #expect((row["question"] != nil) == (number % 10 > 4))
                #expect((row["note"] != nil) == (row["dropped"] == nil))
            }
        }
    }

    @Test(arguments: 0..<3) func theyAreTheSameWhereverARunIsStopped(seed: Int) throws {
        let path = try lines(folder)
        let steps = [Self.question, Self.words, Self.answer, Self.note]
        let (outcome, expected) = try ScriptedRun.run(job(path, steps))
        #expect(outcome.status == .complete, "\(outcome.failures)")
        #expect(try ScriptedRun.stopped(job(path, steps), seed: UInt64(seed), steps: 40) == expected)
    }

    @Test func whatIsNoListIsAnErrorOfTheRow() throws {
        var words = Self.words
        words.each = "question.text"
        let (_, lines) = try ScriptedRun.run(job(try lines(folder, 1), [Self.question, words]))
        #expect(lines.allSatisfy { $0.contains("word: each must be a list, but is ") })
        let named = try folder.write("{\"topic\":\"x\",\"item\":1}\n", to: "named.jsonl")
        let (_, others) = try ScriptedRun.run(job(named, [Self.question, Self.words]))
        #expect(
            others.allSatisfy {
                $0.contains("The line has a field `item`, but so is an item of a list named.")
            })
    }
}
