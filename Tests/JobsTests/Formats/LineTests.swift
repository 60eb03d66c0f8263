import Foundation
import PhiModel
import Testing

@testable import BatchPipeline
@testable import Jobs

@Suite struct LineTests {
    @Test func linesAreTheSameWhateverTheChunk() throws {
        let text = "\u{FEFF}{\"a\":1}\r\n\n   \t\nsecond\n\u{0}nul\nlast"
        for chunk in [1, 2, 3, 64, 4096] {
            let lines = try InputReader.records(text, chunk: chunk)
            #expect(
                lines.map { String(decoding: $0.bytes, as: UTF8.self) } == [
                    "{\"a\":1}", "second", "\u{0}nul", "last",
                ])
            #expect(lines.map(\.number) == [1, 4, 5, 6])
        }
    }

    @Test func severalFilesFollowEachOther() throws {
        let lines = try InputReader.records("a\nb", "", "\nc\n", chunk: 7)
        #expect(lines.map(\.number) == [1, 2, 2])
        #expect(lines.map(\.overallNumber) == [1, 2, 4])
        #expect(lines.last?.file.hasSuffix("2.in.jsonl") == true)
    }

    @Test func longLinesAreMeasuredNotKept() throws {
        let long = String(repeating: "x", count: 5000)
        let lines = try InputReader.records(long + "\nok\n" + long, limit: 100, chunk: 7)
        #expect(lines.map(\.length) == [5000, 2, 5000])
        #expect(lines.map(\.bytes.count) == [0, 2, 0])
        // A request's line that comes as a whole has no limit.
        let whole = InputRecord([UInt8](repeating: 0x78, count: 2 << 20), number: 1)
        #expect(whole.bytes.count == 2 << 20 && !whole.isTooLong)
    }

    @Test func aFileThatShrinksIsAnError() throws {
        let folder = try TestFolder()
        let path = try folder.write(String(repeating: "line\n", count: 100), to: "in.jsonl")
        for kept in [250, 253, 8] {
            _ = try folder.write(String(repeating: "line\n", count: 100), to: "in.jsonl")
            var reader = InputReader(paths: [path], chunkSize: 16)
            #expect(try reader.next()?.number == 1)
            let file = try FileHandle(forWritingTo: URL(filePath: path))
            try file.truncate(atOffset: UInt64(kept))
            try file.close()
            var count = 1
            let error = #expect(throws: UserError.self) { while try reader.next() != nil { count += 1 } }
            #expect(error?.kind == .io && error?.description.contains("had 500 bytes") == true)
            // What was read before counts; half a line does not.
            #expect(count == max(3, kept / 5))
        }
    }

    @Test func missingFilesAndFoldersAreErrors() throws {
        for path in ["no-such-file.jsonl", try TestFolder().path] {
            #expect(throws: UserError.self) { try InputReader(paths: [path]).all() }
        }
    }
}
