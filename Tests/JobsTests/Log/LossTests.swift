import Foundation
import Testing

@testable import BatchPipeline
@testable import Jobs

/// Results whose lines are no longer in the input.
@Suite struct LossTests {
    private func finished(_ lines: [TestLine]) throws -> TestFolder {
        let folder = try TestFolder()
        try TestRun(lines: lines).run(openStore(folder))
        return folder
    }

    private func refusal(_ lines: [TestLine], _ folder: TestFolder) throws -> UserError? {
        let store = try openStore(folder)
        defer { try? store.suspend() }
        do {
            try TestRun(lines: lines).run(store)
            return nil
        } catch let error as UserError {
            return error
        }
    }

    @Test func fewResultsMayGoAndTheEarlierOutputStays() throws {
        let folder = try finished(TestLine.make(20))
        let old = try folder.bytes("out.jsonl")
        var lines = TestLine.make(20)
        lines.removeFirst(2)
        lines[3].content = "another"
        let store = try openStore(folder)
        try TestRun(lines: lines).run(store)
        #expect(try folder.names == ["out.jsonl", "out.jsonl.old-1"])
        #expect(try folder.bytes("out.jsonl.old-1") == old)
        #expect(try folder.bytes("out.jsonl") == TestRun(lines: lines).expected())
        #expect(store.warnings.count == 1)
        #expect(
            store.warnings[0].hasPrefix(
                "results of the earlier output that are not in the new one: 3, of which with lines that are gone: 2; "
            )
        )
        #expect(store.warnings[0].hasSuffix("/out.jsonl.old-1."))
        // Nothing goes with lines that are only moved or added.
        let more = try openStore(folder)
        try TestRun(lines: lines.reversed() + [TestLine(id: "x", content: "x")]).run(more)
        #expect(more.didReplaceOutput && more.warnings.isEmpty)
        #expect(try folder.names == ["out.jsonl", "out.jsonl.old-1"])
    }

    @Test(arguments: [17, 1]) func manyGoOnlyIfThatIsSaid(left: Int) throws {
        let folder = try finished(TestLine.make(20))
        let old = try folder.bytes("out.jsonl")
        let lines = TestLine.make(left) + [TestLine(id: "new", content: "new")]
        let error = try refusal(lines, folder)
        #expect(error?.kind == .wouldLose)
        #expect(
            error?.message.hasPrefix("of the 20 results of an earlier run \(20 - left) would go, as") == true)
        #expect(error?.message.contains("--prune") == true)
        #expect(try folder.bytes("out.jsonl") == old)
        // What was made is not made again.
        let store = try openStore(folder, prunes: true)
        #expect(try TestRun(lines: lines).run(store) == 0)
        #expect(try folder.bytes("out.jsonl") == TestRun(lines: lines).expected())
        #expect(try folder.bytes("out.jsonl.old-1") == old)
        #expect(try folder.names == ["out.jsonl", "out.jsonl.old-1"])
    }

    /// A line that is there is not lost, whatever it says now.
    @Test(arguments: [1, 20]) func linesThatHaveChangedAreDoneAnew(count: Int) throws {
        let folder = try finished(TestLine.make(count))
        let old = try folder.bytes("out.jsonl")
        let store = try openStore(folder)
        #expect(try TestRun(lines: TestLine.make(count, "changed")).run(store) == count)
        #expect(try folder.bytes("out.jsonl.old-1") == old)
    }

    @Test func noneThatIsThereIsAMistake() throws {
        let folder = try finished(TestLine.make(20))
        let others = (0..<25).map { TestLine(id: "other-\($0)", content: "\($0)") }
        let error = try refusal(others, folder)
        #expect(error?.kind == .wouldLose)
        #expect(
            error?.message.hasPrefix(
                "none of the 20 results of an earlier run fits a line of the input any more "
                    + "(lines gone: 20, changed: 0)") == true, "\(error?.message ?? "")")
    }

    /// What an unfinished run has made of other lines is nowhere else.
    @Test func theLogIsKeptWhereManyLinesHaveChanged() throws {
        for (changed, isKept) in [(2, false), (3, true)] {
            let folder = try TestFolder()
            var lines = TestLine.make(20)
            try TestRun(lines: lines, limit: 20).stop(openStore(folder))
            for number in 0..<changed { lines[number].content = "another" }
            try TestRun(lines: lines).run(openStore(folder))
            #expect(folder.has("out.jsonl.old-1.log") == isKept)
        }
    }

    @Test func failedResultsAreNoLoss() throws {
        let failing = TestLine.make(10).map { TestLine(id: $0.id, content: "bad " + $0.content, fails: true) }
        let folder = try finished(
            failing + TestLine.make(1).map { TestLine(id: "good", content: $0.content) })
        let lines = TestLine.make(10) + [TestLine(id: "good", content: TestLine.make(1)[0].content)]
        let store = try openStore(folder)
        try TestRun(lines: lines).run(store)
        #expect(store.warnings.isEmpty)
        #expect(try folder.names == ["out.jsonl"])
    }

    @Test(arguments: [false, true]) func anInputWithoutLinesNeverReplacesResults(prunes: Bool) throws {
        let folder = try finished(TestLine.make(3))
        let old = try folder.bytes("out.jsonl")
        for restart in [false, true] {
            let store = try openStore(folder, restart: restart, prunes: prunes)
            let error = #expect(throws: UserError.self) { try TestRun(lines: []).run(store) }
            #expect(error?.kind == .wouldLose && error?.message.contains("the input has no lines") == true)
            try store.suspend()
            #expect(try folder.bytes("out.jsonl") == old)
        }
        // An empty output, and none at all, may well come of it.
        let empty = try TestFolder()
        for _ in 1...2 { #expect(try refusal([], empty) == nil) }
        #expect(try empty.bytes("out.jsonl").isEmpty)
        #expect(try empty.names == ["out.jsonl"])
    }

    @Test func anInputWithoutLinesLosesNoLogEither() throws {
        let folder = try TestFolder()
        try TestRun(lines: TestLine.make(3), limit: 2).stop(openStore(folder))
        #expect(try refusal([], folder)?.message.contains("out.jsonl.log") == true)
        #expect(try TestRun(lines: TestLine.make(3)).run(openStore(folder)) == 1)
    }

    @Test func theLogOfAnUnfinishedRunIsKeptToo() throws {
        let folder = try TestFolder()
        let lines = TestLine.make(20)
        let first = try openStore(folder)
        try TestRun(lines: lines, limit: 20).run(first)
        try first.suspend()
        let store = try openStore(folder)
        try TestRun(lines: lines.dropLast()).run(store)
        #expect(try folder.names == ["out.jsonl", "out.jsonl.old-1.log"])
        #expect(try folder.text("out.jsonl.old-1.log").contains("re: prompt 19"))
        #expect(
            store.warnings.first?.hasPrefix(
                "results of the earlier, unfinished run whose lines are gone or changed: 1;")
                == true)
    }

    /// What a run that was broken off has replaced in the log is gone from the output all the same.
    @Test func editsOfSeveralRunsCountTogether() throws {
        var lines = TestLine.make(10)
        let folder = try finished(lines)
        let old = try folder.bytes("out.jsonl")
        lines[3].content = "another"
        try TestRun(lines: lines, limit: 1).stop(openStore(folder))
        let store = try openStore(folder)
        #expect(try TestRun(lines: lines).run(store) == 0)
        #expect(try folder.bytes("out.jsonl.old-1") == old)
        #expect(
            store.warnings.first?.hasPrefix("results of the earlier output that are not in the new one: 1,")
                == true)
    }

    @Test func halfALineAtTheEndMeansThatNothingMayGo() throws {
        let folder = try finished(TestLine.make(20))
        let lines = TestLine.make(19)
        let store = try openStore(folder)
        for (position, line) in lines.enumerated() { _ = try store.claim(line.key, position: position) }
        let half = ReadLines(count: 19, unfinished: [UnfinishedLine(InputRecord(number: 20))])
        let error = #expect(throws: UserError.self) { try store.inputEnds(half) }
        #expect(error?.message.contains("ends in half a line") == true)
        #expect(throws: Never.self) { try store.inputEnds(ReadLines(count: 19)) }
        // The store can still save what is under way.
        #expect(throws: Never.self) { try store.sync() }
        try store.suspend()
    }

    /// A restart that is ended anywhere, and gone on with, keeps the one earlier output, and once.
    @Test func aRestartEndedAnywhereKeepsTheEarlierOutputOnce() throws {
        let lines = TestLine.make(4)
        let before = try finished(lines)
        let old = try before.bytes("out.jsonl")
        let edited = TestLine.make(4, "edited")
        func run(_ folder: TestFolder, _ system: FaultyFileSystem) throws {
            let store = try openStore(folder, restart: true, system: system)
            try TestRun(lines: edited).run(store)
        }
        let counting = FaultyFileSystem()
        try run(finished(lines), counting)
        for number in counting.calls.indices {
            let folder = try TestFolder()
            try folder.write(old, to: "out.jsonl")
            let system = FaultyFileSystem(failing: number, with: .error(EIO), lasts: true)
            // The last calls of all may fail without harm.
            try? run(folder, system)
            try TestRun(lines: edited).run(openStore(folder, restart: !folder.isOpen))
            let kept = try folder.names.filter { $0.contains("jsonl.old-") }
            let what: Comment = "call \(number), \(counting.calls[number]): \(kept)"
            #expect(try folder.bytes("out.jsonl") == TestRun(lines: edited).expected(), what)
            #expect(try kept.contains { try folder.bytes($0) == old }, what)
            // Once all was done but to put the log in place, the run above may have begun a further restart.
            #expect(kept.count <= 2, what)
        }
    }

    @Test func aLogOfAnotherRunIsNotCalledOurs() throws {
        let folder = try TestFolder()
        let store = try openStore(folder)
        #expect(store.unfinishedLog == nil)
        try TestRun(lines: TestLine.make(3), limit: 1).run(store)
        try store.sync()
        let log = folder.path("out.jsonl.log")
        #expect(store.unfinishedLog == log)
        try FileManager.default.moveItem(atPath: log, toPath: folder.path("moved"))
        try folder.write(Array("another run's".utf8), to: "out.jsonl.log")
        #expect(store.unfinishedLog == nil)
        let key = TestLine.make(3)[2].key
        try store.append(TestLine.make(3)[2].result, key: key, position: 2)
        let error = #expect(throws: UserError.self) { try store.sync() }
        #expect(error?.message.contains("removed or replaced") == true)
        try store.suspend()
        #expect(store.unfinishedLog == nil)
        // One's own is, even when all is closed.
        let other = try TestFolder()
        let own = try openStore(other)
        try TestRun(lines: TestLine.make(3), limit: 1).run(own)
        try own.suspend()
        #expect(own.unfinishedLog == other.path("out.jsonl.log"))
    }

    @Test func aLookAheadFindsWhatWouldGo() throws {
        let folder = try finished(TestLine.make(20))
        let store = try openStore(folder)
        #expect(store.needsLookAhead)
        let lines = TestLine.make(20)
        _ = try store.claim(ResultKey(id: "new", contentHash: 1), position: 0)
        for line in lines.prefix(17) { try store.lookAhead(at: line.key) }
        #expect(store.needsLookAhead)
        let error = #expect(throws: UserError.self) { try store.inputEnds(ReadLines(count: 18)) }
        #expect(error?.message.contains("known by their number") == false)
        let numbered = #expect(throws: UserError.self) {
            try store.inputEnds(ReadLines(count: 18, hasNumbered: true))
        }
        #expect(numbered?.message.contains("known by their number in the whole input") == true)
        try store.lookAhead(at: lines[17].key)
        #expect(!store.needsLookAhead)
        #expect(throws: Never.self) { try store.inputEnds(ReadLines(count: 19)) }
        // Claims count anew.
        _ = try store.claim(lines[0].key, position: 1)
        #expect(store.needsLookAhead)
        #expect(throws: UserError.self) { try store.inputEnds(ReadLines(count: 2)) }
        for (number, line) in lines.dropFirst().enumerated() {
            _ = try store.claim(line.key, position: number + 2)
        }
        #expect(throws: Never.self) { try store.inputEnds(ReadLines(count: 21)) }
        try store.suspend()
    }
}

/// `OUTPUT.old-N`.
@Suite struct KeptFilesTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func lines(_ number: Int) -> [TestLine] {
        TestLine.make(20) + [TestLine(id: "last", content: "\(number)")]
    }

    /// Runs with one line changed each time.
    private func run(_ folder: TestFolder, _ number: Int, keeping: Int = 3, inputs: [String] = []) throws
        -> LogStore
    {
        let store = try openStore(folder, keeping: keeping, inputs: inputs)
        try TestRun(lines: lines(number)).run(store)
        return store
    }

    @Test func theLastFewAreKept() throws {
        for number in 0...5 { _ = try run(folder, number) }
        #expect(try folder.names == ["out.jsonl", "out.jsonl.old-3", "out.jsonl.old-4", "out.jsonl.old-5"])
        #expect(try folder.bytes("out.jsonl.old-5") == TestRun(lines: lines(4)).expected())
        #expect(try folder.bytes("out.jsonl.old-3") == TestRun(lines: lines(2)).expected())
        _ = try run(folder, 6, keeping: 1)
        #expect(try folder.names == ["out.jsonl", "out.jsonl.old-6"])
        let none = try run(folder, 7, keeping: 0)
        #expect(try folder.names == ["out.jsonl", "out.jsonl.old-6"])
        #expect(none.warnings.first?.contains("not kept, as keep_old is 0") == true)
    }

    @Test func filesOfOthersAreNeitherReplacedNorRemovedNorTakenForOurs() throws {
        _ = try run(folder, 0)
        let foreign = [
            "out.jsonl.old-2", "out.jsonl.old-02", "out.jsonl.old-x", "out.jsonl.old-", "out.jsonl.old",
        ]
        for name in foreign { try folder.write(Array("mine".utf8), to: name) }
        // Empty, a folder, and links, one to the output itself.
        try folder.write([], to: "out.jsonl.old-3")
        try FileManager.default.createDirectory(
            atPath: folder.path("out.jsonl.old-4"), withIntermediateDirectories: true)
        for (name, target) in [("out.jsonl.old-5", "out.jsonl"), ("out.jsonl.old-6", "nowhere")] {
            try FileManager.default.createSymbolicLink(
                atPath: folder.path(name), withDestinationPath: target)
        }
        let before = try folder.names
        for number in 1...3 { _ = try run(folder, number, keeping: 1) }
        #expect(try folder.names == (before + ["out.jsonl.old-9"]).sorted())
        for name in foreign { #expect(try folder.text(name) == "mine") }
        #expect(try folder.bytes("out.jsonl.old-9") == TestRun(lines: lines(2)).expected())
    }

    @Test func anInputIsNeverRemoved() throws {
        for number in 0...1 { _ = try run(folder, number) }
        let input = folder.path("in")
        try FileManager.default.linkItem(atPath: folder.path("out.jsonl.old-1"), toPath: input)
        for number in 2...4 { _ = try run(folder, number, keeping: 1, inputs: [input, folder.path("no")]) }
        #expect(try folder.names == ["in", "out.jsonl", "out.jsonl.old-1", "out.jsonl.old-4"])
    }
}
