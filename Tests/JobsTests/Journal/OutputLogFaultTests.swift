import Foundation
import Testing

@testable import BatchPipeline
@testable import Jobs

/// A run is ended, or fails, at each of its calls; whatever happens, the next one ends with
/// the output of an undisturbed run, and makes no result again that was kept.
@Suite struct OutputLogFaultTests {
    enum Start: CaseIterable { case nothing, output, outputAndJournal }

    private static let lines = TestLine.make(12)
    private static var edited: [TestLine] {
        var edited = lines
        edited[2].content = "edited"
        edited.swapAt(0, 7)
        edited.append(TestLine(id: "new", content: "new"))
        return edited
    }

    private func open(_ folder: TestFolder, _ system: any FileSystem = FaultyFileSystem()) throws
        -> JournalStore
    {
        try openStore(folder, format: TabbedResults(), system: system)
    }

    private func prepare(_ start: Start) throws -> TestFolder {
        let folder = try TestFolder()
        if start != .nothing { try TestRun(lines: Self.lines).run(open(folder)) }
        if start == .outputAndJournal {
            let store = try open(folder)
            try TestRun(lines: Self.edited, limit: 2).run(store)
            try store.suspend()
        }
        return folder
    }

    private func attempt(_ folder: TestFolder, _ system: FaultyFileSystem) -> (any Error)? {
        do {
            let store = try open(folder, system)
            do {
                try TestRun(lines: Self.edited).run(store)
            } catch {
                try? store.suspend()
                return error
            }
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: Start.allCases) func everyCallFailingInTurn(start: Start) throws {
        let expected = TestRun(lines: Self.edited).tabbed
        let before = try prepare(start)
        let old = before.has("out.jsonl") ? try before.bytes("out.jsonl") : nil
        let counting = FaultyFileSystem()
        #expect(attempt(try prepare(start), counting) == nil)
        for number in counting.calls.indices {
            for (fault, lasts) in [
                (FaultyFileSystem.Fault.error(EIO), false), (.error(EIO), true), (.error(ENOSPC), true),
                (.short, true),
            ] {
                let what: Comment = "call \(number) (\(counting.calls[number])), \(fault), lasting: \(lasts)"
                let folder = try TestFolder()
                for name in try before.names + ["out.jsonl.log"] where before.has(name) {
                    try folder.write(try before.bytes(name), to: name)
                }
                let error = attempt(folder, FaultyFileSystem(failing: number, with: fault, lasts: lasts))
                if fault == .short { #expect(error == nil, what) }
                let bytes = folder.has("out.jsonl") ? try folder.bytes("out.jsonl") : nil
                #expect(bytes == old || bytes == expected, what)
                // What an undisturbed look says in the meantime.
                let status = try JobStatus.read(output: folder.path("out.jsonl"))
                if old != nil { #expect(status.done >= Self.lines.count, what) }
                let again = try open(folder)
                #expect(!again.notes.contains { $0.contains("written;") }, "\(what): \(again.notes)")
                // Nothing that was in the output before is made again.
                let made = try TestRun(lines: Self.edited).run(again)
                if old != nil { #expect(made <= 2, what) }
                if bytes == expected { #expect(made == 0, what) }
                #expect(try folder.bytes("out.jsonl") == expected, what)
                let kept = try folder.names.filter { $0.contains(".old-") }
                #expect(kept == (old == nil ? [] : ["out.jsonl.old-1"]), what)
                #expect(try folder.names == ["out.jsonl"] + kept, what)
                let log = try OutputLog(folder.path("out.jsonl.log"), in: POSIXFileSystem())
                let output = try #require(
                    try File.textIfPresent(folder.path("out.jsonl"), in: POSIXFileSystem()))
                #expect(try log?.fits(output) == true, what)
            }
        }
    }
}
