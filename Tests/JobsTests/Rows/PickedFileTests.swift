import Testing

@testable import Jobs

/// Lines of files that rows pick from.
@Suite struct PickedFileTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func job(_ pick: String, rows: Int = 200) throws -> JobSettings {
        try JobSettings.parse(
            "model: m\noutput: o\nrows: \(rows)\npick: {x: {\(pick)}}", folder: folder.path)
    }

    /// The values that come.
    private func values(_ pick: String) throws -> Set<String> {
        Set(
            try PickTests.rows(job(pick)).compactMap { row in
                row.split(separator: "\"x\":", maxSplits: 1).last.map { String($0.dropLast()) }
            })
    }

    @Test func aLineOfAFile() throws {
        _ = try folder.write("one \"1\"\r\n\n  \ntwo\nthree", to: "lines")
        #expect(try values("file: lines") == [#""one \"1\"""#, #""two""#, #""three""#])
        let lines = "{\"text\":\"a\",\"n\":1.50}\n\n{\"n\":{\"b\":[2]},\"text\":\"c\"}\n"
        for name in ["lines.jsonl", "lines.NDJSON"] {
            _ = try folder.write(lines, to: name)
            #expect(try values("file: \(name), field: text") == [#""a""#, #""c""#])
            #expect(try values("file: \(name), field: n") == ["1.50", #"{"b":[2]}"#])
            #expect(
                try values("file: \(name)") == [
                    #"{"text":"a","n":1.50}"#, #"{"n":{"b":[2]},"text":"c"}"#,
                ])
        }
        _ = try folder.write(lines, to: "lines.txt")
        #expect(try values("file: lines.txt, field: text") == [#""a""#, #""c""#])
        _ = try folder.write("name,age\nAnn,5\n\"Bo, b\",7\n", to: "table.csv")
        #expect(try values("file: table.csv, field: name") == [#""Ann""#, #""Bo, b""#])
        #expect(try values("file: table.csv").contains(#"{"name":"Ann","age":"5"}"#))
        _ = try folder.write("[{\"a\": 1},\n {\"a\": 2}]", to: "list.json")
        #expect(try values("file: list.json, field: a") == ["1", "2"])
        #expect(try values("file: \(folder.path)/list.json, field: a") == ["1", "2"])
    }

    @Test(arguments: [
        ("", "has nothing to pick from", ""),
        ("\n \n", "has nothing to pick from", ""),
        ("{\"a\":1}\n{\"b\":2}", "lines.jsonl:2: the line has no a", ", field: a"),
        ("{\"a\":null}", "lines.jsonl:1: the line has no a", ", field: a"),
        ("{\"a\":1}\n\n{\"a\":", "lines.jsonl:3: The line is not valid JSON", ", field: a"),
        ("[1]", "lines.jsonl:1: The line must be a JSON object, but is a list", ""),
    ])
    func whatIsWrongIsSaid(content: String, message: String, field: String) throws {
        _ = try folder.write(content, to: "lines.jsonl")
        let error = #expect(throws: UserError.self) { try job("file: lines.jsonl" + field) }
        #expect(error?.place == "job:4" && error?.message.hasPrefix("pick x: ") == true)
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
        #expect(error?.message.hasSuffix("..") == false)
    }

    @Test func textIsUTF8() throws {
        _ = try folder.write([0x61, 0x0A, 0xFF, 0x0A], to: "lines")
        let error = #expect(throws: UserError.self) { try job("file: lines") }
        #expect(error?.message.contains("lines:2: The line is not valid UTF-8") == true)
    }

    /// What a job depends on is never written over.
    @Test func theFileIsASource() throws {
        _ = try folder.write("a\nb\n", to: "lines")
        let job = try job("file: lines")
        let source = SourceFile(path: folder.path + "/lines", what: "the file that x is picked from")
        #expect(job.sources == [source])
        var other = job
        other.output = folder.path + "/lines"
        let error = #expect(throws: UserError.self) { try other.check(file: nil) }
        #expect(error?.message.contains("would overwrite the file that x is picked from") == true)
        // It is read once, whatever becomes of it.
        let rows = try PickTests.rows(job)
        _ = try folder.write("c\n", to: "lines")
        #expect(try PickTests.rows(job) == rows)
        #expect(try self.job("file: lines") != job)
    }

    /// All lines are drawn alike.
    @Test func eachLineIsDrawn() throws {
        _ = try folder.write((0..<1000).map { "line \($0)\n" }.joined(), to: "lines")
        let counts = try PickTests.rows(job("file: lines", rows: 20_000)).reduce(into: [:]) {
            $0[$1.drop { $0 != "," }, default: 0] += 1
        }
        #expect(counts.count == 1000)
        #expect(counts.values.min() == 7 && counts.values.max() == 38)
    }
}
