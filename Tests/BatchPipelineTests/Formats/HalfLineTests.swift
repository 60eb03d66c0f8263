import Foundation
import Testing

@testable import BatchPipeline

/// An input that ends in half a line, because its writer is still at it.
@Suite struct HalfLineTests {
    private func line(_ number: Int) -> String { "{\"id\":\"n\(number)\",\"prompt\":\"é number \(number)\"}" }

    private func run(_ folder: TestFolder, _ text: some Collection<UInt8>, inputs: [String] = ["in.jsonl"])
        throws -> RunOutcome
    {
        try folder.write(Array(text), to: "in.jsonl")
        let store = try openStore(folder)
        return try Runner(
            job: .test(input: inputs.map(folder.path)), model: ScriptedModel(), store: store
        ).run()
    }

    private func ids(_ folder: TestFolder) throws -> [String] {
        try folder.text("out.jsonl").matches(of: /"id":"(\w+)"/).map { String($0.1) }
    }

    /// However much of the second line is there.
    @Test func theRestIsDeliveredAndTheLineLeftForTheNextRun() throws {
        let whole = Array((line(0) + "\n" + line(1)).utf8)
        let first = Array((line(0) + "\n").utf8)
        let expected = try TestFolder()
        _ = try run(expected, whole + [0x0a])
        for length in first.count + 1..<whole.count {
            let folder = try TestFolder()
            let outcome = try run(folder, whole[..<length])
            #expect(
                outcome.status == .complete && outcome.statistics.failed == 0 && outcome.statistics.lines == 1
            )
            #expect(
                outcome.unfinished == [
                    UnfinishedLine(file: folder.path("in.jsonl"), line: 2, bytes: length - first.count)
                ])
            #expect(try ids(folder) == ["n0"])
            let again = try run(folder, whole[..<length])
            #expect(again.status == .complete && again.statistics.done == 0 && again.unfinished.count == 1)
            let later = try run(folder, whole + [0x0a])
            #expect(later.statistics.done == 1 && later.statistics.skipped == 1 && later.unfinished.isEmpty)
            #expect(try ids(folder) == ["n0", "n1"])
            let results = try [folder, expected].map {
                try $0.text("out.jsonl").replacing(/"timing":{[^}]*}/, with: "")
            }
            #expect(results[0] == results[1])
            #expect(try folder.names == ["in.jsonl", "out.jsonl"])
        }
    }

    @Test func aWholeObjectNeedsNoLineFeed() throws {
        let folder = try TestFolder()
        let outcome = try run(folder, (line(0) + "\n" + line(1) + " \r").utf8)
        #expect(outcome.unfinished.isEmpty && outcome.statistics.done == 2)
        #expect(try JobSettings.test(input: [folder.path("in.jsonl")]).countLines() == 2)
        // White space is no line, and a line feed makes a wrong line a failure.
        #expect(try run(folder, (line(0) + "\n" + line(1) + "\n  ").utf8).unfinished.isEmpty)
        let wrong = try run(folder, (line(0) + "\n" + line(1) + "\n{\n").utf8)
        #expect(wrong.unfinished.isEmpty && wrong.status == .tooManyFailures(allowed: 0))
    }

    @Test func everyFileMayEndSo() throws {
        let folder = try TestFolder()
        try folder.write(Array((line(7) + "\n{\"id\":\"half").utf8), to: "more.jsonl")
        let text = line(0) + "\n{\"id\":\"n1\",\"prompt\":\"\(String(repeating: "long ", count: 2000))"
        let outcome = try run(folder, text.utf8, inputs: ["in.jsonl", "more.jsonl"])
        #expect(outcome.status == .complete && outcome.unfinished.map(\.line) == [2, 2])
        #expect(try ids(folder) == ["n0", "n7"])
        let job = JobSettings.test(input: ["in.jsonl", "more.jsonl"].map(folder.path))
        #expect(try job.countLines() == 2)
    }

    /// A numbered line keeps its number.
    @Test func numbersCountOn() throws {
        let folder = try TestFolder()
        try folder.write(Array("{\"prompt\":\"b\"}\n".utf8), to: "more.jsonl")
        for (text, expected) in [("{\"pro", ["2"]), ("{\"prompt\":\"a\"}", ["1", "2"])] {
            #expect(try run(folder, text.utf8, inputs: ["in.jsonl", "more.jsonl"]).status == .complete)
            #expect(try ids(folder) == expected)
        }
    }

    @Test func nothingButHalfALineIsNoLine() throws {
        let folder = try TestFolder()
        #expect(try run(folder, Array("{\"id".utf8)).status == .complete)
        #expect(try folder.bytes("out.jsonl").isEmpty)
        _ = try run(folder, Array((line(0) + "\n").utf8))
        let error = #expect(throws: StoreError.self) { try run(folder, Array("{\"id".utf8)) }
        #expect(error?.kind == .wouldLose)
    }
}

/// Losses that show before the work.
@Suite struct LookAheadTests {
    private func lines(_ numbers: some Sequence<Int>) -> String {
        numbers.map { "{\"id\":\"n\($0)\",\"prompt\":\"number \($0)\"}\n" }.joined()
    }

    private func run(_ folder: TestFolder, _ text: String, load: @escaping () throws -> ScriptedModel) throws
        -> RunOutcome
    {
        try folder.write(text.utf8, to: "in.jsonl")
        let store = try openStore(folder)
        return try Runner(job: .test(input: [folder.path("in.jsonl")]), store: store) { try load().loaded }
            .run()
    }

    @Test func aRotatedInputIsRefusedBeforeTheModelIsLoaded() throws {
        let folder = try TestFolder()
        _ = try run(folder, lines(0..<36)) { ScriptedModel() }
        let old = try folder.bytes("out.jsonl")
        for text in [lines(100..<101), lines(100..<1000), lines(100..<500) + lines(0..<32)] {
            let error = #expect(throws: StoreError.self) {
                try run(folder, text) {
                    Issue.record("the model is not needed")
                    return ScriptedModel()
                }
            }
            #expect(error?.kind == .wouldLose)
            #expect(try folder.bytes("out.jsonl") == old)
            #expect(try folder.names == ["in.jsonl", "out.jsonl"])
        }
        let more = try run(folder, lines(100..<500) + lines(0..<33)) { ScriptedModel() }
        #expect(more.statistics.done == 400 && more.statistics.skipped == 33)
        #expect(try folder.names == ["in.jsonl", "out.jsonl", "out.jsonl.old-1"])
    }

    /// From a pipe it shows when the last line is read, which is before the last answer.
    @Test func withoutALookAheadItShowsAtTheInputsEnd() throws {
        let folder = try TestFolder()
        _ = try run(folder, lines(0..<36)) { ScriptedModel() }
        let pipe = folder.path("pipe")
        try #require(mkfifo(pipe, 0o600) == 0)
        let text = lines(100..<400)
        Thread.detachNewThread {
            try? FileHandle(forWritingTo: URL(filePath: pipe)).write(contentsOf: Data(text.utf8))
        }
        let store = try openStore(folder)
        let error = #expect(throws: StoreError.self) {
            try Runner(job: .test(input: [pipe]), model: ScriptedModel(), store: store).run()
        }
        #expect(error?.kind == .wouldLose)
        // What was made is in the journal, and what was under way beside it.
        let status = try JobStatus.read(output: folder.path("out.jsonl"))
        #expect(status.state == .stopped && status.done > 36 && status.done < 336)
        #expect(store.journalPath == folder.path("out.jsonl.journal"))
    }
}
