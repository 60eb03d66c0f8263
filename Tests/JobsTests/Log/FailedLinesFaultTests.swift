import Foundation
import OperatingSystem
import Testing

@testable import BatchPipeline
@testable import Jobs

/// A run whose failed lines have a file of their own is ended, or fails, at each of its calls; whatever happens, both
/// files are whole, and the next run ends with those of an undisturbed one.
@Suite struct FailedLinesFaultTests {
    private static let lines = TestLine.make(6).enumerated().map { number, line in
        var line = line
        line.fails = number % 3 == 1
        return line
    }
    /// One is mended, one fails anew, one is new.
    private static var edited: [TestLine] {
        var edited = lines
        edited[1].fails = false
        edited[2].content = "edited"
        edited[2].fails = true
        edited.append(TestLine(id: "new", content: "new"))
        return edited
    }

    private func open(_ folder: TestFolder, _ system: FileSystem = FaultyFileSystem()) throws
        -> LogStore
    {
        try openStore(
            folder, format: ResultFormat.jsonl,
            errors: folder.path("errors"), system: system)
    }

    private func attempt(_ folder: TestFolder, _ system: FaultyFileSystem) -> Bool {
        guard let store = try? open(folder, system) else { return false }
        do {
            try TestRun(lines: Self.edited).run(store)
            return true
        } catch {
            try? store.suspend()
            return false
        }
    }

    private func both(_ folder: TestFolder) throws -> [[UInt8]] {
        try ["out.jsonl", "errors"].map { try folder.bytes($0) }
    }

    @Test func aRunSplitsItsResults() throws {
        let folder = try TestFolder()
        try TestRun(lines: Self.lines).run(open(folder))
        let (output, errors) = try (folder.text("out.jsonl"), folder.text("errors"))
        #expect(output.split(separator: "\n").count == 4 && !output.contains("error"))
        #expect(errors.split(separator: "\n").count == 2 && errors.contains("\"id\":\"line-4\","))
        // Nothing is done again, and the files stay as they are.
        #expect(try TestRun(lines: Self.lines, redoesFailed: false).run(open(folder)) == 0)
        #expect(try folder.text("out.jsonl") == output && folder.text("errors") == errors)
        #expect(try folder.names == ["errors", "out.jsonl"])
        // Without a failed line the file is there, and empty; it comes again if somebody takes it away.
        let right = Self.lines.map { TestLine(id: $0.id, content: $0.content) }
        #expect(try TestRun(lines: right).run(open(folder)) == 2)
        #expect(try folder.bytes("errors").isEmpty)
        try FileManager.default.removeItem(atPath: folder.path("errors"))
        #expect(try TestRun(lines: right).run(open(folder)) == 0)
        #expect(try folder.bytes("errors").isEmpty)
    }

    @Test func everyCallFailingInTurn() throws {
        let before = try TestFolder()
        try TestRun(lines: Self.lines).run(open(before))
        func start() throws -> TestFolder {
            let folder = try TestFolder()
            for name in try before.names + ["out.jsonl.log"] where before.has(name) {
                try folder.write(try before.bytes(name), to: name)
            }
            return folder
        }
        let old = try both(before)
        let counting = FaultyFileSystem()
        let undisturbed = try start()
        #expect(attempt(undisturbed, counting))
        let new = try both(undisturbed)
        for number in counting.calls.indices {
            for (fault, lasts) in [
                (FaultyFileSystem.Fault.error(EIO), false), (.error(EIO), true), (.error(ENOSPC), true),
                (.short, true),
            ] {
                let what: Comment = "call \(number) (\(counting.calls[number])), \(fault), lasting: \(lasts)"
                let folder = try start()
                let isComplete = attempt(folder, FaultyFileSystem(failing: number, with: fault, lasts: lasts))
                if fault == .short { #expect(isComplete, what) }
                let there = try both(folder)
                #expect(there[0] == old[0] || there[0] == new[0], what)
                #expect(there[1] == old[1] || there[1] == new[1], what)
                // Never the new output without its failed lines.
                if there[0] == new[0] { #expect(there[1] == new[1], what) }
                try TestRun(lines: Self.edited).run(open(folder))
                #expect(try both(folder) == new, what)
                let others = try folder.names.filter { !$0.contains(".old-") }
                #expect(others == ["errors", "out.jsonl"], what)
            }
        }
    }
}
