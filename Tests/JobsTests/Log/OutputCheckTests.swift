import Foundation
import Testing

@testable import BatchPipeline
@testable import Jobs

/// What shows of a finished output that is not as it was written.
@Suite struct OutputCheckTests {
    private let folder: TestFolder
    private let lines: [String]
    private let all: [TestLine]

    init() throws {
        folder = try TestFolder()
        var all = TestLine.make(6)
        all[4].fails = true
        self.all = all
        try TestRun(lines: all).run(openStore(folder))
        lines = try folder.text("out.jsonl").split(separator: "\n").map(String.init)
    }

    private func faults(_ lines: [String]) throws -> [String] {
        try folder.write(lines.map { $0 + "\n" }.joined().utf8, to: "out.jsonl")
        return try OutputCheck(output: folder.path("out.jsonl")).faults.map(\.text)
    }

    @Test func everyEditShows() throws {
        #expect(try faults(lines) == [])
        #expect(try OutputCheck(output: folder.path("out.jsonl")).results == 6)
        var edited = lines
        edited[2] = edited[2].replacing("re: prompt 2", with: "re: prompt 3")
        #expect(
            try faults(edited).contains { $0.hasPrefix("result 3 (line-2) is not as phibatch writes it") })
        for number in 0..<5 {
            var without = lines
            without.remove(at: number)
            #expect(try !faults(without).isEmpty)
            var twice = lines
            twice.insert(lines[number], at: number)
            #expect(try !faults(twice).isEmpty)
        }
        #expect(try faults(lines + [""]).contains { $0.contains("more than it should") })
        #expect(try !faults(lines.dropLast()).isEmpty)
        try FileManager.default.removeItem(atPath: folder.path("out.jsonl"))
        #expect(throws: UserError.self) { try OutputCheck(output: folder.path("out.jsonl")) }
    }

    @Test func everyByteCounts() throws {
        let whole = try folder.bytes("out.jsonl")
        for position in whole.indices {
            var bytes = whole
            bytes[position] ^= 1
            try folder.write(bytes, to: "out.jsonl")
            #expect(try OutputCheck(output: folder.path("out.jsonl")).faultCount > 0, "byte \(position)")
        }
    }

    @Test func anEditedOutputIsKeptAndWrittenAgain() throws {
        var edited = lines
        edited[2] = edited[2].replacing("re: prompt 2", with: "by hand")
        _ = try faults(edited)
        let store = try openStore(folder)
        #expect(store.notes.contains { $0.contains("not as it was written") })
        #expect(try TestRun(lines: all, redoesFailed: false).run(store) == 0)
        #expect(try folder.text("out.jsonl") == lines.map { $0 + "\n" }.joined())
        #expect(try folder.text("out.jsonl.old-1").contains("by hand"))
        try FileManager.default.removeItem(atPath: folder.path("out.jsonl"))
        #expect(try TestRun(lines: all, redoesFailed: false).run(openStore(folder)) == 0)
        #expect(try folder.text("out.jsonl") == lines.map { $0 + "\n" }.joined())
    }
}
