import Foundation
import Testing

@testable import BatchPipeline
@testable import Jobs

/// Outputs of a format that can't say what they hold, and the record beside them.
@Suite struct OutputRecordTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private static let files = ["out.jsonl", "out.jsonl.record"]

    private func open(
        _ folder: TestFolder, restart: Bool = false, system: any FileSystem = FaultyFileSystem()
    ) throws -> JournalStore {
        try openStore(folder, format: TabbedResults(), restart: restart, system: system)
    }

    private func finished(_ lines: [TestLine]) throws -> TestFolder {
        let folder = try TestFolder()
        try TestRun(lines: lines).run(open(folder))
        return folder
    }

    private func check(_ folder: TestFolder) throws -> OutputCheck? {
        try OutputCheck.read(output: folder.path("out.jsonl"), format: TabbedResults())
    }

    @Test func aFinishedOutputIsKnownByItsRecord() throws {
        var lines = TestLine.make(10)
        lines[3].content = "two\nlines\t"
        let folder = try finished(lines)
        #expect(try folder.names == Self.files)
        #expect(try folder.bytes("out.jsonl") == TestRun(lines: lines).tabbed)
        let record = try folder.bytes("out.jsonl.record")
        let again = try open(folder)
        #expect(try TestRun(lines: lines).run(again) == 0)
        #expect(!again.didReplaceOutput && again.report == ResumeReport(kept: 10) && again.notes.isEmpty)
        #expect(try folder.bytes("out.jsonl.record") == record)
        let status = try JobStatus.read(output: folder.path("out.jsonl"), format: TabbedResults())
        #expect(status.state == .complete && status.done == 10 && status.completionTokens == 70)
        #expect(try check(folder) == OutputCheck(lines: 10))
    }

    @Test func aStoppedRunGoesOn() throws {
        let lines = TestLine.make(10)
        let first = try open(folder)
        try TestRun(lines: lines, limit: 6).run(first)
        try first.suspend()
        #expect(try TestRun(lines: lines).run(open(folder)) == 4)
        #expect(try folder.bytes("out.jsonl") == TestRun(lines: lines).tabbed)
        #expect(try folder.names == Self.files)
    }

    /// What is in the journal may become an output of any format.
    @Test func aStoppedRunGoesOnInAnotherFormat() throws {
        let lines = TestLine.make(10)
        let first = try openStore(folder)
        try TestRun(lines: lines, limit: 6).run(first)
        try first.suspend()
        #expect(try TestRun(lines: lines).run(open(folder)) == 4)
        #expect(try folder.bytes("out.jsonl") == TestRun(lines: lines).tabbed)
    }

    @Test(arguments: [Int.max, 1]) func anEditedInputCostsOnlyItsEdits(limit: Int) throws {
        var lines = TestLine.make(20)
        lines[4].fails = true
        let folder = try finished(lines)
        let old = try folder.bytes("out.jsonl")
        lines.edit()
        if limit < Int.max {
            let store = try open(folder)
            try TestRun(lines: lines, limit: limit).run(store)
            try store.suspend()
            #expect(try folder.bytes("out.jsonl") == old)
        }
        let store = try open(folder)
        // The failed one is tried again too.
        #expect(try TestRun(lines: lines).run(store) == (limit == 1 ? 2 : 3))
        #expect(store.report.gone == 1)
        #expect(try folder.bytes("out.jsonl") == TestRun(lines: lines).tabbed)
        #expect(try folder.names == ["out.jsonl", "out.jsonl.old-1", "out.jsonl.record"])
        #expect(try folder.bytes("out.jsonl.old-1") == old)
        #expect(try check(folder) == OutputCheck(lines: 20))
        // The same failure to the same end is no change.
        let again = try open(folder)
        #expect(try TestRun(lines: lines).run(again) == 1 && !again.didReplaceOutput)
    }

    /// A record is removed with the output it is of, another's file of its name never.
    @Test(arguments: [true, false]) func anotherFormatLeavesNoRecord(isOurs: Bool) throws {
        let lines = TestLine.make(4)
        let folder = try finished(lines)
        if !isOurs { try folder.write("mine".utf8, to: "out.jsonl.record") }
        try TestRun(lines: lines).run(openStore(folder, restart: true))
        #expect(try folder.bytes("out.jsonl") == TestRun(lines: lines).expected())
        #expect(try folder.names.contains("out.jsonl.record") == !isOurs)
    }

    @Test func everyEditShows() throws {
        let lines = TestLine.make(6)
        let folder = try finished(lines)
        let whole = try folder.bytes("out.jsonl")
        for position in whole.indices {
            var bytes = whole
            bytes[position] ^= 1
            try folder.write(bytes, to: "out.jsonl")
            let found = try #require(try check(folder))
            let line = max(1, whole[..<position].count { $0 == 0x0a })
            #expect(found.different == 1 && found.firstDifferent == line, "byte \(position)")
        }
        try folder.write(whole + [0x0a], to: "out.jsonl")
        #expect(try check(folder)?.firstDifferent == 7)
        try folder.write(whole.dropLast(), to: "out.jsonl")
        #expect(try check(folder)?.firstDifferent == 6)
        // What was edited is done anew, and kept as it was.
        var edited = whole
        edited[12] ^= 1
        try folder.write(edited, to: "out.jsonl")
        let store = try open(folder)
        #expect(
            store.notes.count == 1
                && store.notes[0].contains("not as they were written, and are done anew: 1."))
        #expect(try TestRun(lines: lines).run(store) == 1)
        #expect(try folder.bytes("out.jsonl") == whole && folder.bytes("out.jsonl.old-1") == edited)
    }

    @Test func anOutputThatIsNotTheRecordsIsLeftAlone() throws {
        let folder = try finished(TestLine.make(3))
        let whole = try folder.bytes("out.jsonl")
        let record = try folder.bytes("out.jsonl.record")
        func refused(_ reason: String) throws {
            let before = try Self.files.map { folder.has($0) ? try folder.bytes($0) : [] }
            let error = #expect(throws: StoreError.self) { try open(folder) }
            #expect(
                error?.kind == .mismatch && error?.message.contains(reason) == true,
                "\(error.debugDescription)")
            #expect(try Self.files.map { folder.has($0) ? try folder.bytes($0) : [] } == before)
        }
        try folder.write("quite another file, of somebody else".utf8, to: "out.jsonl")
        try refused("it was edited or replaced")
        try folder.write(whole, to: "out.jsonl")
        try FileManager.default.removeItem(atPath: folder.path("out.jsonl.record"))
        try refused("no record of phibatch")
        #expect(throws: StoreError.self) { try check(folder) }
        try folder.write("mine".utf8, to: "out.jsonl.record")
        try refused("was not made by phibatch")
        var damaged = record
        damaged[30] ^= 1
        try folder.write(damaged, to: "out.jsonl.record")
        try refused("its first line is damaged")
        try folder.write(record, to: "out.jsonl.record")
        let other = try openStore(
            folder, fingerprint: RunFingerprint([("job.seed", "18")]), format: TabbedResults(), restart: true)
        try other.suspend()
        try FileManager.default.removeItem(atPath: folder.path("out.jsonl.journal"))
        let error = #expect(throws: StoreError.self) {
            try openStore(folder, fingerprint: RunFingerprint([("job.seed", "18")]), format: TabbedResults())
        }
        #expect(error?.message.contains("job.seed: 17 -> 18") == true)
        // The other way round it is no native output.
        #expect(throws: StoreError.self) { try openStore(folder) }
        try FileManager.default.removeItem(atPath: folder.path("out.jsonl.record"))
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("out.jsonl.record"), withDestinationPath: "elsewhere")
        try refused("is a symbolic link")
    }

    @Test func damageOfTheRecordCostsOneResult() throws {
        let lines = TestLine.make(4)
        let folder = try finished(lines)
        let record = try folder.bytes("out.jsonl.record")
        let header = (record.firstIndex(of: 0x0a) ?? 0) + 1
        for position in stride(from: header, to: record.count, by: 11) {
            var damaged = record
            damaged[position] ^= 4
            try folder.write(damaged, to: "out.jsonl.record")
            #expect(try TestRun(lines: lines).run(open(folder)) <= 2, "byte \(position)")
            #expect(try folder.bytes("out.jsonl") == TestRun(lines: lines).tabbed)
            try? FileManager.default.removeItem(atPath: folder.path("out.jsonl.old-1"))
            #expect(try folder.names == Self.files, "byte \(position)")
        }
    }

    @Test(arguments: ["out.jsonl.record", "out.jsonl.phibatch-record"])
    func foreignFilesStayAndAreNoNeighboursOfOtherFormats(name: String) throws {
        try folder.write("precious".utf8, to: name)
        for restart in [false, true] {
            let error = #expect(throws: StoreError.self) { try open(folder, restart: restart) }
            #expect(error?.path == folder.path(name) && error?.kind == .mismatch)
            #expect(error?.message.contains("left as it is; move it away") == true)
            #expect(try folder.names == [name])
        }
        // A format that has no use for the name leaves it alone.
        try TestRun(lines: TestLine.make(1)).run(openStore(folder))
        #expect(try folder.text(name) == "precious")
    }

    @Test func aRestartReplacesWhateverIsThere() throws {
        try folder.write("mine".utf8, to: "out.jsonl")
        try TestRun(lines: TestLine.make(3)).run(open(folder, restart: true))
        #expect(try folder.bytes("out.jsonl") == TestRun(lines: TestLine.make(3)).tabbed)
        #expect(try folder.text("out.jsonl.old-1") == "mine")
        try TestRun(lines: TestLine.make(3, "edited")).run(open(folder, restart: true))
        #expect(try folder.bytes("out.jsonl") == TestRun(lines: TestLine.make(3, "edited")).tabbed)
        #expect(try check(folder) == OutputCheck(lines: 3))
    }

    @Test func streamsHaveTheFormatToo() throws {
        for count in [0, 5] {
            let descriptor = try POSIXFileSystem().open(folder.path("stream-\(count)"), .createNew())
            let store = StreamStore(
                descriptor: descriptor, fingerprint: testFingerprint, format: TabbedResults())
            let run = TestRun(lines: TestLine.make(count))
            try run.run(store)
            #expect(try folder.bytes("stream-\(count)") == run.tabbed)
        }
    }
}
