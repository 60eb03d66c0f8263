import JSON
import Testing

@testable import Jobs

/// What is told to DuckDB, and what is made of what it says. What it does itself is tested with Python's pyarrow.
@Suite struct ParquetTests {
    private func command(
        _ rows: [String], _ example: JSONValue = [:], known: [String: String] = [:]
    ) throws -> String? {
        var columns = TableColumns(example, known: known)
        for row in rows { try columns.add(Array(row.utf8)) }
        return columns.command(rows: "ROWS", output: "OUTPUT")
    }

    @Test(arguments: [
        (#"{"a":1}"#, #"{"a":-2}"#, #""a" BIGINT"#), (#"{"a":1}"#, #"{"a":2.5}"#, #""a" DOUBLE"#),
        (#"{"a":null}"#, #"{"a":true}"#, #""a" BOOLEAN"#), (#"{"a":null}"#, #"{}"#, #""a" VARCHAR"#),
        (#"{"a":[]}"#, #"{"a":[null,["x"]]}"#, #""a" VARCHAR[][]"#),
        (#"{"a":1}"#, #"{"a":"1"}"#, #""a" JSON"#),
        (#"{"a":18446744073709551615}"#, #"{"a":1}"#, #""a" JSON"#),
        (#"{"a":{"b":1}}"#, #"{"a":{"B":1}}"#, #""a" JSON"#), (#"{"a":{"":1}}"#, #"{"a":{}}"#, #""a" JSON"#),
        (#"{"a\"b'":1}"#, #"{}"#, #""a""b'" BIGINT"#),
    ])
    func typesHoldAllThatCame(one: String, two: String, type: String) throws {
        for rows in [[one, two], [two, one, two]] {
            let made = try #require(try command(rows))
            #expect(made.contains("::STRUCT(\(type)) AS r"), "\(made)")
        }
    }

    @Test func namesAreQuotedAndKnownTypesKept() throws {
        let known = ["k'": #"STRUCT("BLOB" BLOB, b BLOB[])"#, "later": "BLOB"]
        let row = #"{"k'":{"BLOB":"x"},"z":{"b":1,"c":null}}"#
        let made = try #require(try command([row], ["id": ""], known: known))
        let types = #""id" VARCHAR, "k'" STRUCT("BLOB" BLOB, b BLOB[]), "z" STRUCT("b" BIGINT, "c" VARCHAR)"#
        #expect(made.contains("::STRUCT(\(types), \"later\" BLOB) AS r"), "\(made)")
        #expect(made.contains(#"\"k''\" STRUCT(\"BLOB\" VARCHAR, b VARCHAR[]), "#), "\(made)")
        #expect(made.contains(#"\"later\" VARCHAR)"'"#) && made.contains("json_type(json, '/k''')"))
        #expect(made.contains("TO OUTPUT (") && made.contains("(ROWS, "))
        #expect(try command([#"{"a":1,"A":2}"#]) == nil && command([#"{"":1}"#]) == nil)
    }

    @Test(arguments: [
        ("in.arrow", Array("{}".utf8)), ("in.FEATHER", []), ("in.jsonl", Array("ARROW1\0\0x".utf8)),
        ("in.jsonl", [0xFF, 0xFF, 0xFF, 0xFF, 0]),
    ])
    func arrowIsRefused(name: String, bytes: [UInt8]) throws {
        let folder = try TestFolder()
        try folder.write(bytes, to: name)
        let error = #expect(throws: JobError.self) {
            try ByteSource(path: folder.path(name)).readAll(limit: 10)
        }
        #expect(error.map { "\($0)" }?.contains("Convert to Parquet") == true)
        if name != "in.jsonl" { #expect(throws: JobError.self) { try OutputName(name).check() } }
    }

    @Test func bareWordsAreQuoted() {
        func quoted(_ json: String, _ isMeant: (UInt8) -> Bool) -> String {
            String(decoding: BareWords.quoted(json.utf8, where: isMeant), as: UTF8.self)
        }
        let json = #"{"a NaN":[NaN,-Infinity, 1.50,"x\" NaN","\\",NaN],"n":-12e3,"t":true}"#
        #expect(
            quoted(json) { "NI".utf8.contains($0) }
                == #"{"a NaN":["NaN","-Infinity", 1.50,"x\" NaN","\\","NaN"],"n":-12e3,"t":true}"#)
        #expect(
            quoted(json) { (0x30...0x39).contains($0) }
                == #"{"a NaN":[NaN,-Infinity, "1.50","x\" NaN","\\",NaN],"n":"-12e3","t":true}"#)
        #expect(quoted("7") { _ in true } == "\"7\"")
    }
}
