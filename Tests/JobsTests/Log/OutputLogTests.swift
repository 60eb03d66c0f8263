import Foundation
import OperatingSystem
import Testing

@testable import BatchPipeline
@testable import Jobs

/// The log beside a finished output.
@Suite struct OutputLogTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private static let files = ["out.jsonl", "out.jsonl.log"]

    private func open(
        _ folder: TestFolder, restart: Bool = false, system: FileSystem = FaultyFileSystem()
    ) throws -> LogStore {
        try openStore(folder, format: .tabbed, restart: restart, system: system)
    }

    private func finished(_ lines: [TestLine]) throws -> TestFolder {
        let folder = try TestFolder()
        try TestRun(lines: lines).run(open(folder))
        return folder
    }

    private func isAsWritten(_ folder: TestFolder) throws -> Bool {
        try FinishedOutput(folder.path("out.jsonl"))?.isAsWritten() == true
    }

    @Test func aFinishedOutputIsKnownByItsLog() throws {
        var lines = TestLine.make(10)
        lines[3].content = "two\nlines\t"
        let folder = try finished(lines)
        #expect(try folder.names == ["out.jsonl"])
        #expect(try folder.bytes("out.jsonl") == TestRun(lines: lines).tabbed)
        let log = try folder.bytes("out.jsonl.log")
        let file = try FileSystem.real.info(folder.path("out.jsonl")).identity
        let again = try open(folder)
        #expect(try TestRun(lines: lines).run(again) == 0)
        #expect(!again.didReplaceOutput && again.report == ResumeReport(kept: 10) && again.notes.isEmpty)
        #expect(try folder.bytes("out.jsonl.log") == log)
        #expect(try FileSystem.real.info(folder.path("out.jsonl")).identity == file)
        let status = try JobStatus(output: folder.path("out.jsonl"))
        #expect(status.state == .complete && status.done == 10 && status.completionTokens == 70)
        #expect(try isAsWritten(folder))
    }

    /// What is in the log may become an output of any format.
    @Test func aStoppedRunGoesOnInAnotherFormat() throws {
        let lines = TestLine.make(10)
        try TestRun(lines: lines, limit: 6).stop(openStore(folder))
        #expect(try TestRun(lines: lines).run(open(folder)) == 4)
        #expect(try folder.bytes("out.jsonl") == TestRun(lines: lines).tabbed)
    }

    /// The log holds whole results, so an output can be had in any format.
    @Test func anotherFormatIsWrittenFromTheLog() throws {
        let lines = TestLine.make(4)
        let folder = try finished(lines)
        #expect(try TestRun(lines: lines).run(openStore(folder)) == 0)
        #expect(try folder.bytes("out.jsonl") == TestRun(lines: lines).expected())
        #expect(try folder.names == ["out.jsonl"])
        #expect(try TestRun(lines: lines).run(open(folder)) == 0)
        #expect(try folder.bytes("out.jsonl") == TestRun(lines: lines).tabbed)
    }

    @Test func anOutputWithoutItsLogIsLeftAlone() throws {
        let folder = try finished(TestLine.make(3))
        let log = try folder.bytes("out.jsonl.log")
        func refused(_ reason: String) throws {
            let before = try Self.files.map { folder.has($0) ? try folder.bytes($0) : [] }
            let error = #expect(throws: UserError.self) { try open(folder) }
            #expect(
                error?.kind == .mismatch && error?.message.contains(reason) == true,
                "\(error.debugDescription)")
            #expect(try Self.files.map { folder.has($0) ? try folder.bytes($0) : [] } == before)
        }
        try FileManager.default.removeItem(atPath: folder.path("out.jsonl.log"))
        try refused("no log of phibatch")
        #expect(throws: UserError.self) { try FinishedOutput(folder.path("out.jsonl")) }
        try folder.write("mine".utf8, to: "out.jsonl.log")
        try refused("was not made by phibatch")
        // Any bit that is wrong, or an end that is missing.
        for position in stride(from: 10, to: log.count, by: 7) {
            var damaged = log
            damaged[position] ^= 1
            try folder.write(damaged, to: "out.jsonl.log")
            #expect(throws: UserError.self, "byte \(position)") { try open(folder) }
            try folder.write(log[..<position], to: "out.jsonl.log")
            #expect(throws: UserError.self, "byte \(position)") { try open(folder) }
        }
        try folder.write(log, to: "out.jsonl.log")
        let other = try openStore(
            folder, fingerprint: RunFingerprint([("job.seed", "18")]), format: .tabbed, restart: true)
        try other.suspend()
        try FileManager.default.removeItem(atPath: folder.path("out.jsonl.log"))
        try refused("no log of phibatch")
    }
}
