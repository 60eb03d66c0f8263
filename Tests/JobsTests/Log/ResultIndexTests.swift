import Foundation
import TestSupport
import Testing

@testable import BatchPipeline
@testable import Jobs

/// The tables that tell what is known of lines.
@Suite struct ResultIndexTests {
    @Test func idsAreMetOnce() {
        var seen = SeenIDs()
        let ids = (0..<20_000).map { "\($0)" } + [""]
        for isNew in [true, false] {
            #expect(ids.allSatisfy { seen.insert($0) == isNew })
        }
    }

    @Test func entriesAreFoundByTheirNames() {
        let index = ResultIndex()
        // Hashes that want the same place.
        let names =
            (0..<5000).map { UInt64($0) << 40 } + (0..<5000).map { UInt64($0) &* 0x9e37_79b9_7f4a_7c15 + 1 }
        for (number, name) in names.enumerated() {
            #expect(index.find(name) == nil)
            #expect(index.insert(.init(nameHash: name, contentHash: 1, repetition: 0)) == number)
        }
        for (number, name) in names.enumerated() { #expect(index.find(name) == number) }
        #expect(index.count == names.count && index.find(7) == nil)
    }

    /// Runs, breaks off, edits and shuffles a job with doubled ids.
    @Test func whateverIsDoneToALine() throws {
        var random = FixedRandom(3)
        var lines = TestLine.make(400)
        for index in stride(from: 11, to: 400, by: 40) { lines[index].fails = true }
        for index in stride(from: 5, to: 400, by: 9) { lines[index].id = "same" }
        for index in stride(from: 7, to: 400, by: 31) { lines[index] = lines[index - 1] }
        var edited = lines
        for index in stride(from: 0, to: 400, by: 23) { edited[index].content += " edited" }
        edited.removeLast(50)
        edited += TestLine.make(30, "late").map { TestLine(id: "late " + $0.id, content: $0.content) }
        let runs = [(lines, 170), (lines, Int.max), (edited, 20), (edited.shuffled(using: &random), .max)]
        let folder = try TestFolder()
        for (lines, limit) in runs {
            let store = try openStore(folder, prunes: true)
            try TestRun(lines: lines, limit: limit).run(store)
            if limit < .max {
                try store.suspend()
            } else {
                #expect(try folder.bytes("out.jsonl") == TestRun(lines: lines).expected())
            }
        }
    }
}
