import Foundation
import PhiModel
import Testing

@testable import BatchPipeline

@Suite struct LineTests {
    private func lines(_ files: [[UInt8]], limit: Int = 1000, chunk: Int = 7) throws -> [InputLine] {
        let folder = try TemporaryFolder()
        let paths = try files.enumerated().map { try folder.write($1, to: "\($0).jsonl") }
        var reader = LineReader(paths: paths, lineLimit: limit, chunkSize: chunk)
        var lines: [InputLine] = []
        while let line = try reader.next() { lines.append(line) }
        return lines
    }

    @Test func linesAreTheSameWhateverTheChunk() throws {
        let text = "\u{FEFF}{\"a\":1}\r\n\n   \t\nsecond\n\u{0}nul\nlast"
        for chunk in [1, 2, 3, 64, 4096] {
            let lines = try lines([Array(text.utf8)], chunk: chunk)
            #expect(
                lines.map { String(decoding: $0.bytes, as: UTF8.self) } == [
                    "{\"a\":1}", "second", "\u{0}nul", "last",
                ])
            #expect(lines.map(\.number) == [1, 4, 5, 6])
        }
    }

    @Test func severalFilesFollowEachOther() throws {
        let lines = try lines([Array("a\nb".utf8), [], Array("\nc\n".utf8)])
        #expect(lines.map(\.number) == [1, 2, 2])
        #expect(lines.map(\.overallNumber) == [1, 2, 4])
        #expect(lines.last?.file.hasSuffix("2.jsonl") == true)
    }

    @Test func longLinesAreMeasuredNotKept() throws {
        let long = [UInt8](repeating: 0x78, count: 5000)
        let lines = try lines([long + [0x0A] + Array("ok\n".utf8) + long], limit: 100)
        #expect(lines.map(\.excessLength) == [5000, nil, 5000])
        #expect(lines.map(\.bytes.count) == [0, 2, 0])
    }

    @Test func aFileThatShrinksIsAnError() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(String(repeating: "line\n", count: 100), to: "in.jsonl")
        for kept in [250, 253, 8] {
            _ = try folder.write(String(repeating: "line\n", count: 100), to: "in.jsonl")
            var reader = LineReader(paths: [path], chunkSize: 16)
            #expect(try reader.next()?.number == 1)
            let file = try FileHandle(forWritingTo: URL(filePath: path))
            try file.truncate(atOffset: UInt64(kept))
            try file.close()
            var count = 1
            let error = #expect(throws: JobError.self) { while try reader.next() != nil { count += 1 } }
            #expect(error?.kind == .inputOutput && error?.description.contains("had 500 bytes") == true)
            // What was read before counts; half a line does not.
            #expect(count == max(3, kept / 5))
        }
    }

    @Test func missingFilesAndFoldersAreErrors() throws {
        var reader = LineReader(paths: ["no-such-file.jsonl"])
        #expect(throws: JobError.self) { try reader.next() }
        let folder = try TemporaryFolder()
        var other = LineReader(paths: [folder.path])
        #expect(throws: JobError.self) { try other.next() }
    }
}

@Suite struct JSONTests {
    private func parse(_ text: String) throws(JSONProblem) -> TemplateValue {
        try JSONParser.parse(Array(text.utf8))
    }

    @Test func valuesAreRead() throws {
        #expect(
            try parse(#" {"a":[1,-2.5e3,true,false,null,"x\n\"\\\/\u00e9\ud83d\ude00"],"b":{}} "#)
                == ["a": [1, -2500.0, true, false, nil, "x\n\"\\/\u{E9}\u{1F600}"], "b": [:]])
        #expect(try parse("12345678901234567890") == .double(12_345_678_901_234_567_168))
        #expect(try parse("{\"\u{E9}\":1,\"e\u{301}\":2}") == ["\u{E9}": 1, "e\u{301}": 2])
    }

    @Test(arguments: [
        "", " ", "{", "[1", "[1,]", "{\"a\":1,}", "{a:1}", "{\"a\" 1}", "01", "1.", "-", "1e", "+1", ".5",
        "tru", "nulll",
        "\"a", "\"\u{1}\"", "\"\\x\"", "\"\\u12\"", "\"\\ud800\"", "\"\\ud800\\u0041\"", "\"\\udc00\"",
        "\"\\u00e\u{E9}\"", "1 2",
        "NaN", "Infinity", "1e999", "{\"a\":1,\"a\":2}", "'a'", "\u{0}", "[1]]",
    ])
    func whatIsNotJSONIsRefused(text: String) {
        #expect(throws: JSONProblem.self) { try parse(text) }
    }

    @Test func depthAndSizeAreBounded() {
        let deep = 100_000
        #expect(throws: JSONProblem.self) { try parse(String(repeating: "[", count: deep)) }
        #expect(throws: JSONProblem.self) { try parse(String(repeating: "{\"a\":", count: deep)) }
        #expect(throws: JSONProblem.self) { try parse(String(repeating: "9", count: deep)) }
        let members = (0..<20_000).map { "\"k\($0)\":0" }.joined(separator: ",")
        #expect(throws: Never.self) { try parse("{\(members)}") }
        #expect(throws: JSONProblem.self) { try parse("{\(members),\"k7\":1}") }
    }

    @Test func theWriterEscapesAndRoundTrips() throws {
        var writer = JSONWriter()
        let text = "q\" b\\ \n\r\t\u{8}\u{C}\u{1}\u{7F}\u{85}\u{2028}\u{2029}\u{2027} é 日 😀"
        writer.object { writer in
            writer.key("s")
            writer.string(text)
            writer.key("n")
            writer.array { writer in
                writer.number(0.1)
                writer.number(Float(0.1))
                writer.number(3.0)
                writer.number(-1e-7)
                writer.number(Double.infinity)
                writer.bool(true)
                writer.int(-7)
            }
            writer.key("e")
            writer.object { _ in }
        }
        #expect(
            writer.text == #"{"s":"q\" b\\ \n\r\t\b\f\u0001\u007f\u0085\u2028\u2029"# + "\u{2027} é 日 😀"
                + #"","n":[0.1,0.1,3,-1e-07,null,true,-7],"e":{}}"#)
        #expect(try JSONParser.parse(writer.bytes)["s"] == .string(text))
    }
}
