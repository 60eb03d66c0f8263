import Foundation
import Testing

@testable import BatchPipeline
@testable import Jobs

/// An input that ends in half a line: it was cut, or its writer is still at it.
@Suite struct HalfLineTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func line(_ number: Int) -> String { "{\"id\":\"n\(number)\",\"prompt\":\"é number \(number)\"}" }

    private func run(
        _ folder: TestFolder, _ text: some Collection<UInt8>, inputs: [String] = ["in.jsonl"],
        follows: Bool = false
    ) throws -> RunOutcome {
        try folder.write(Array(text), to: "in.jsonl")
        let models = ModelLoader { ScriptedModel().loaded }
        let job = try JobRun(
            job: .test(input: inputs.map(folder.path)), models: models, store: openStore(folder),
            follows: follows)
        return try Runner(job: job, models: models).run()
    }

    private func ids(_ folder: TestFolder) throws -> [String] {
        try folder.text("out.jsonl").matches(of: /"id":"(\w+)"/).map { String($0.1) }
    }

    /// However much of the second line is there, the run doesn't count as complete; what it did is kept.
    @Test func aCutInputIsAnError() throws {
        let whole = Array((line(0) + "\n" + line(1)).utf8)
        let first = Array((line(0) + "\n").utf8)
        for length in first.count + 1..<whole.count {
            let folder = try TestFolder()
            for _ in 0..<2 {
                let error = #expect(throws: UserError.self) { try run(folder, whole[..<length]) }
                #expect(error?.kind == .io && error?.place == folder.path("in.jsonl") + ":2")
                #expect(error?.message.contains("line is incomplete: \(length - first.count) byte") == true)
                #expect(folder.isOpen && !folder.has("out.jsonl"))
            }
            let later = try run(folder, whole + [0x0a])
            #expect(later.statistics.done == 1 && later.statistics.skipped == 1)
            #expect(try ids(folder) == ["n0", "n1"])
        }
    }

    @Test(arguments: [
        "{\"prompt\": 7,}", "[1, 2]", "{\"prompt\": \"a\"} {}", "\0\0\0", "\u{FEFF}{\"prompt\":",
    ])
    func aWrongLineNeedsItsLineFeed(text: String) throws {
        let error = #expect(throws: UserError.self) { try run(folder, text.utf8) }
        #expect(error?.message.contains("end it with a line feed") == true)
        #expect(try run(folder, (text + "\n").utf8).status == .tooManyFailures(allowed: 0))
    }

    @Test func aWholeObjectNeedsNoLineFeed() throws {
        for end in ["", " \r"] {
            let text = Array((line(0) + "\n" + line(1) + end).utf8)
            #expect(try run(folder, text).status == .complete)
            #expect(try ids(folder) == ["n0", "n1"])
        }
        #expect(try JobSettings.test(input: [folder.path("in.jsonl")]).countLines() == 2)
        // White space is no line, and a line feed makes a wrong line a failure.
        for end in ["\n  ", "\n\r", "\n\n"] {
            let text = Array((line(0) + "\n" + line(1) + end).utf8)
            #expect(try run(folder, text).status == .complete)
        }
    }

    @Test func theCutShowsInPackedFilesToo() throws {
        let packed = GzipTests.packed(line(0) + "\n" + line(1).dropLast(4))
        let error = #expect(throws: UserError.self) { try run(folder, packed) }
        #expect(error?.place == folder.path("in.jsonl") + ":2")
        #expect(try run(folder, (line(0) + "\n").utf8).statistics.skipped == 1)
    }

    @Test(arguments: [0, 1])
    func aPackedFileCutAtItsBeginningIsNotEmpty(length: Int) throws {
        try folder.write([0x1f, 0x8b].prefix(length), to: "in.jsonl.gz")
        let error = #expect(throws: UserError.self) {
            try Runner(
                job: .test(input: [folder.path("in.jsonl.gz")]), model: ScriptedModel(),
                store: openStore(folder)
            ).run()
        }
        #expect(
            error?.kind == .io && error?.message.contains("in the middle of its gzip data") == true)
    }

    @Test func aFailureIsToldFirst() throws {
        let outcome = try run(folder, ("{}\n" + line(1).dropLast()).utf8)
        #expect(outcome.status == .tooManyFailures(allowed: 0) && outcome.unfinished.map(\.line) == [2])
    }

    // MARK: Followed

    @Test(arguments: [1, 17, 30])
    func aFollowedInputKeepsItForLater(length: Int) throws {
        let half = Array((line(0) + "\n" + line(1).prefix(length)).utf8)
        let outcome = try run(folder, half, follows: true)
        #expect(
            outcome.status == .complete && outcome.statistics.failed == 0 && outcome.statistics.lines == 1)
        #expect(
            outcome.unfinished.map(\.line) == [2]
                && outcome.unfinished.map(\.file) == [folder.path("in.jsonl")])
        #expect(try ids(folder) == ["n0"])
        let again = try run(folder, half, follows: true)
        #expect(again.status == .complete && again.statistics.done == 0 && again.unfinished.count == 1)
        let later = try run(folder, (line(0) + "\n" + line(1) + "\n").utf8, follows: true)
        #expect(later.statistics.done == 1 && later.statistics.skipped == 1 && later.unfinished.isEmpty)
        #expect(try ids(folder) == ["n0", "n1"])
        #expect(try folder.names == ["in.jsonl", "out.jsonl"])
    }

    @Test func everyFileMayEndSo() throws {
        try folder.write(Array((line(7) + "\n{\"id\":\"half").utf8), to: "more.jsonl")
        let text = line(0) + "\n{\"id\":\"n1\",\"prompt\":\"\(String(repeating: "long ", count: 2000))"
        let outcome = try run(folder, text.utf8, inputs: ["in.jsonl", "more.jsonl"], follows: true)
        #expect(outcome.status == .complete && outcome.unfinished.map(\.line) == [2, 2])
        #expect(try ids(folder) == ["n0", "n7"])
        let job = JobSettings.test(input: ["in.jsonl", "more.jsonl"].map(folder.path))
        #expect(try job.countLines() == 2)
    }

    /// A numbered line keeps its number.
    @Test func numbersCountOn() throws {
        try folder.write(Array("{\"prompt\":\"b\"}\n".utf8), to: "more.jsonl")
        for (text, expected) in [("{\"pro", ["2"]), ("{\"prompt\":\"a\"}", ["1", "2"])] {
            let outcome = try run(folder, text.utf8, inputs: ["in.jsonl", "more.jsonl"], follows: true)
            #expect(outcome.status == .complete)
            #expect(try ids(folder) == expected)
        }
    }

    @Test func nothingButHalfALineIsNoLine() throws {
        #expect(try run(folder, Array("{\"id".utf8), follows: true).status == .complete)
        #expect(try folder.bytes("out.jsonl").isEmpty)
        _ = try run(folder, Array((line(0) + "\n").utf8))
        let error = #expect(throws: UserError.self) { try run(folder, Array("{\"id".utf8)) }
        #expect(error?.kind == .wouldLose)
    }
}

/// Lines that end in a carriage return alone would all be one.
@Suite struct CarriageReturnTests {
    private func run(_ name: String, _ text: String, _ change: (inout JobSettings) -> Void = { _ in }) throws
        -> RunOutcome
    {
        let folder = try TestFolder()
        try folder.write(text.utf8, to: name)
        let job = JobSettings.test(input: [folder.path(name)], change)
        return try Runner(job: job, model: ScriptedModel(), store: openStore(folder)).run()
    }

    @Test(arguments: [
        ("in.jsonl", "{\"prompt\":\"a\"}\r{\"prompt\":\"b\"}\r"),
        ("in.jsonl", "{\"prompt\":\"a\"}\r{\"prompt\":\"b\"}"), ("in.jsonl", "\r{\"prompt\":\"b\"}"),
        ("in.csv", "id,prompt\r1,a\r2,b\r"), ("in.tsv", "id\tprompt\r1\ta"), ("in.txt", "a\rb\r"),
    ])
    func aFileOfThemIsAnError(name: String, text: String) throws {
        for text in [text, "\u{FEFF}" + text] {
            let error = #expect(throws: UserError.self) { try run(name, text) }
            #expect(error?.kind == .badJob && error?.message.contains("carriage return alone") == true)
        }
        // Longer than what is kept of a line.
        let long = String(repeating: text + "\r", count: 5000)
        let folder = try TestFolder()
        try folder.write(long.utf8, to: name)
        #expect(throws: UserError.self) { try JobSettings.test(input: [folder.path(name)]).countLines() }
    }

    @Test func otherEndsAreReadRightly() throws {
        for text in ["{\"prompt\":\"a\"}\r", "{\"prompt\":\"a\"}\r\n", "{\"prompt\":\r\"a\"}\n"] {
            #expect(try run("in.jsonl", text).statistics.done == 1)
        }
        #expect(try run("in.csv", "prompt\r\n\"a\rb\"\r\nc\r").statistics.done == 2)
        #expect(try run("in.txt", "a\r").statistics.done == 1)
    }

    /// Where others end in a line feed, it is that line's fault alone.
    @Test func amongOthersItIsTheLinesFault() throws {
        let lines = "{\"prompt\":\"a\"}\n{\"prompt\":\"b\"}\r{\"prompt\":\"c\"}\n"
        #expect(try run("in.jsonl", lines).failures.map(\.error.code) == [.invalidJSON])
        // As one cell it would be one prompt.
        let rows = try run("in.csv", "prompt\na\nb\rc\nd\n")
        #expect(rows.failures.map(\.line) == [3] && rows.failures.map(\.error.code) == [.badField])
        #expect(rows.failures.first?.error.message.contains("carriage return") == true)
        let head = #expect(throws: UserError.self) { try run("in.csv", "a\rprompt\n1,b\n") }
        #expect(head?.message.contains("carriage return") == true)
    }
}

/// Losses that show before the work.
@Suite struct LookAheadTests {
    private func lines(_ numbers: some Sequence<Int>) -> String {
        numbers.map { "{\"id\":\"n\($0)\",\"prompt\":\"number \($0)\"}\n" }.joined()
    }

    private func run(
        _ folder: TestFolder, _ text: String, load: @escaping @Sendable () throws -> ScriptedModel
    ) throws
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
            let error = #expect(throws: UserError.self) {
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
        let error = #expect(throws: UserError.self) {
            try Runner(job: .test(input: [pipe]), model: ScriptedModel(), store: store).run()
        }
        #expect(error?.kind == .wouldLose)
        // What was made is in the log, and so is what was under way.
        let status = try JobStatus(output: folder.path("out.jsonl"))
        #expect(status.state == .stopped && status.done > 36 && status.done < 336)
        #expect(store.unfinishedLog == folder.path("out.jsonl.log"))
    }
}
