import JSON
import Testing

@testable import Jobs

/// A format whose files say at their ends what is in them, as Parquet's do.
@Suite struct SeekingInputTests {
    /// Texts one after the other, and behind them their lengths and the count of those, each a digit.
    private struct CountedTexts: InputFormat {
        let name = "counted"
        let canGrow = false

        func makeCursor(over bytes: InputBytes, limit: Int) -> any InputCursor { Cursor(bytes: bytes) }

        private struct Cursor: InputCursor {
            let bytes: InputBytes
            private var lengths: ArraySlice<Int>?
            private var start = 0

            init(bytes: InputBytes) { self.bytes = bytes }

            mutating func next() throws -> InputRecord? {
                if lengths == nil {
                    guard let size = try bytes.size else {
                        throw JobError(.badJob, at: bytes.name, "must be a file that is not packed.")
                    }
                    let count = try digits(size - 1..<size)[0]
                    lengths = try digits(size - 1 - count..<size - 1)[...]
                }
                guard let length = lengths?.popFirst() else { return nil }
                bytes.lineCount += 1
                let text = try bytes.bytes(in: start..<start + length)
                start += length
                return InputRecord(bytes: text, number: bytes.lineCount)
            }

            private func digits(_ range: Range<Int>) throws -> [Int] {
                try bytes.bytes(in: range).map { Int($0) - 48 }
            }

            func fields(of record: InputRecord) throws(LineError) -> JSONValue {
                ["prompt": .string(String(decoding: record.bytes, as: UTF8.self))]
            }
        }
    }

    @Test func theEndIsReadFirst() throws {
        let folder = try TestFolder()
        try folder.write("onetwothree3353".utf8, to: "a")
        try folder.write("four41".utf8, to: "b")
        var reader = InputReader(
            paths: [folder.path("a"), folder.path("b")], format: CountedTexts(), chunkSize: 1)
        var found: [String] = []
        while let record = try reader.next() {
            found.append("\(record.overallNumber) \(try reader.fields(of: record).string("prompt") ?? "")")
        }
        #expect(found == ["1 one", "2 two", "3 three", "4 four"])
        try folder.write(GzipTests.packed("onetwothree3353"), to: "a")
        var packed = InputReader(paths: [folder.path("a")], format: CountedTexts())
        #expect { try packed.next() } throws: { "\($0)".contains("not packed") }
        try folder.write("one9991".utf8, to: "a")
        var short = InputReader(paths: [folder.path("a")], format: CountedTexts())
        #expect { try short.next() } throws: { "\($0)".contains("ends before byte") }
    }
}
