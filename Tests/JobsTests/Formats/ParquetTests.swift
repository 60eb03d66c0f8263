import Foundation
import JSON
import OperatingSystem
import Testing

@testable import Jobs

/// What is told to DuckDB, and what is made of what it says. What it does itself is tested with Python's pyarrow.
@Suite struct ParquetTests {
    private func given(_ rows: [String], _ example: JSONValue = [:], known: JSONObject = [:]) throws
        -> String
    {
        var columns = ParquetColumns(example, known: known)
        for row in rows { try columns.add(Array(row.utf8)) }
        return String(decoding: columns.commands().given, as: UTF8.self)
    }

    @Test(arguments: [
        (#"{"a":1}"#, #"{"a":-2}"#, #""a":"BIGINT""#), (#"{"a":1}"#, #"{"a":2.5}"#, #""a":"DOUBLE""#),
        (#"{"a":null}"#, #"{"a":true}"#, #""a":"BOOLEAN""#), (#"{"a":null}"#, #"{}"#, #""a":"VARCHAR""#),
        (#"{"a":[]}"#, #"{"a":[null,["x"]]}"#, #""a":[["VARCHAR"]]"#),
        (#"{"a":1}"#, #"{"a":"1"}"#, #""a":"JSON""#),
        (#"{"a":18446744073709551615}"#, #"{"a":1}"#, #""a":"JSON""#),
        (#"{"a":{"":1}}"#, #"{"a":{}}"#, #""a":{"_2":"BIGINT"}"#),
        (#"{"a\"b'":1}"#, #"{}"#, #""a\"b'":"BIGINT""#),
    ])
    func typesHoldAllThatCame(one: String, two: String, type: String) throws {
        for rows in [[one, two], [two, one, two]] {
            let made = try given(rows)
            #expect(made == #"{"read":{\#(type)},"types":{\#(type)},"pointers":[]}"#)
        }
    }

    @Test func knownTypesAreKept() throws {
        let known: JSONObject = ["k'/": #"STRUCT("x BLOB, y" BLOB, BLOB BLOB[])"#, "later": "BLOB"]
        let row = #"{"k'/":{"BLOB":"x"},"z":{"b":1,"c":null}}"#
        let made = try given([row], ["id": ""], known: known)
        let ends = #","z":{"b":"BIGINT","c":"VARCHAR"},"later":"#
        let read =
            #"{"id":"VARCHAR","k'/":"STRUCT(\"x BLOB, y\" VARCHAR, BLOB VARCHAR[])""# + ends + #""VARCHAR"}"#
        let types = #"{"id":"VARCHAR","k'/":"STRUCT(\"x BLOB, y\" BLOB, BLOB BLOB[])""# + ends + #""BLOB"}"#
        #expect(made == #"{"read":\#(read),"types":\#(types),"pointers":["/k'~1","/later"]}"#)
    }

    /// Issue 59, 8: a name that comes late and can't be had gets a number, also where such a name is there already, and in
    /// structs. What a shard's table has called so is the same column.
    @Test(.enabled(if: isThere, "DuckDB's program is not there (no network?)"))
    func lateClashesGetSecondNames() throws {
        let folder = try TestFolder()
        try folder.write([], to: "made")
        let made = try File.open(folder.path("made"), .readWrite, in: .real)
        let table = try TableDraft(
            ParquetColumns(["id": "", "Topic_2": .null], known: ["Topic_2": "VARCHAR"]), of: .parquet,
            samples: 1, beside: made.path, in: made.system)
        let lines: [JSONObject] = [
            ["topic": 1, "x_2": 0, "s": [["a": 1, "A_2": 2]]],
            ["Topic": "y", "X": 1, "x": ["": 2.5], "s": [["A": ["B": 1]]]],
        ]
        for (number, line) in lines.enumerated() {
            var result = GenerationResult.completion("", promptTokens: 1, completionTokens: 1)
            result.kept = line
            let key = ResultKey(id: "\(number)", contentHash: 0)
            try table.append(ResultRecord(key: key, repetition: 0, run: "", result: result))
        }
        let renamed = try table.finish(into: made)
        #expect(renamed == ["s.A as A_3", "Topic as Topic_2", "x as x_3", "x_3. as _2"])
        let rows = try DuckDB.rows(of: made.descriptor).readAll().split(separator: 0x0A).map {
            try JSONValue(parsing: Array($0), limits: .ownLine)
        }
        #expect(rows.count == 2 && rows[0]["topic"] == 1 && rows[0]["Topic_2"] == .null)
        #expect(rows[0]["s"] == [["a": 1, "A_2": 2, "A_3": .null]])
        #expect(rows[1]["Topic_2"] == "y" && rows[1]["X"] == 1 && rows[1]["x_3"]?["_2"]?.number == 2.5)
        #expect(rows[1]["s"] == [["a": .null, "A_2": .null, "A_3": ["B": 1]]])
    }

    /// Issue 59, 8: a list of structs with A and a, and a struct with a member without a name.
    @Test(
        .enabled(if: isThere, "DuckDB's program is not there (no network?)"),
        arguments: [
            (
                "`l.list.element.A` and `l.list.element.a`",
                """
                UEFSMRUAFRoVGiwVAhUAFQYVBhwAAAACAAAAAgACAAAAAgQBFQAVGBUYLBUCFQAVBhUGHAAAAAIAAAACAAIAAAACAxUEGWw1ABgGc2NoZW1h                FQIANQIYAWwVAhUGTDwAAAA1BBgEbGlzdBUCADUCGAdlbGVtZW50FQQAFQAlAhgBQQAVACUCGAFhABYCGRwZLCYAHBUAGSUGABlIAWwEbGlzdAdl                bGVtZW50AUEVABYCFkAWQCYISRwVABUAFQIAPCkmAgAZVgAAAAACAAAAJgAcFQAZJQYAGUgBbARsaXN0B2VsZW1lbnQBYRUAFgIWPhY+JkhJHBUA                FQAVAgA8KSYCABlWAAAAAgAAAAAWfhYCJggWfgAoIHBhcnF1ZXQtY3BwLWFycm93IHZlcnNpb24gMjYuMC4xGSwcAAAcAAAA/gAAAFBBUjE=
                """
            ),
            (
                "`s.`",
                """
                UEFSMRUAFQ4VDiwVAhUAFQYVBhwAAAACAAAAAgIBFQQZPDUAGAZzY2hlbWEVAgA1AhgBcxUCABUAJQIYAAAWAhkcGRwmABwVABklBgAZKAFzABUA                FgIWNBY0JghJHBUAFQAVAgA8KQYZNgAAAgAAABY0FgImCBY0ACggcGFycXVldC1jcHAtYXJyb3cgdmVyc2lvbiAyNi4wLjEZHBwAAACDAAAAUEFS                MQ==
                """
            ),
        ])
    func membersThatDifferInCaseAreRefused(path: String, table: String) throws {
        let folder = try TestFolder()
        try folder.write(
            Array(try #require(Data(base64Encoded: table, options: .ignoreUnknownCharacters))),
            to: "in.parquet")
        let error = #expect(throws: UserError.self) {
            try ByteSource(path: folder.path("in.parquet")).readAll(limit: 10)
        }
        let said = error.map { "\($0)" } ?? ""
        #expect(said.contains("in.parquet") && said.contains("it has \(path); names of"), "\(said)")
    }

    // MARK: Through DuckDB

    /// Scalars that join a quote beside them to one Character, and some that don't: one of each combining class, all that
    /// format, selectors of variants, what stands before another (U+0600), modifiers, NUL.
    private static let joining: [Unicode.Scalar] = {
        var (classes, found): (Set<UInt8>, [Unicode.Scalar]) = ([0], [])
        for value in UInt32(0)...0x1_FFFF {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let properties = scalar.properties
            let isNew = classes.insert(properties.canonicalCombiningClass.rawValue).inserted
            if isNew || properties.generalCategory == .format || properties.isVariationSelector {
                found.append(scalar)
            }
        }
        let more: [UInt32] = [
            0, 0x09, 0x0A, 0x0D, 0x7F, 0x0903, 0x0D4E, 0x111C2, 0x1100, 0x1161, 0x1F1E6, 0x1F3FB, 0xE0100,
        ]
        return found + more.compactMap { Unicode.Scalar($0) }
    }()
    private static let isThere = (try? DuckDB.program()) != nil

    @Test(.enabled(if: isThere, "DuckDB's program is not there (no network?)"))
    func whatNeedsQuotesComesBack() throws {
        let folder = try TestFolder()
        var row = JSONObject()
        for quote in ["'", "\"", "`", "\\"] {
            var (members, count) = (JSONObject(), 0)
            for scalar in Self.joining {
                for name in [
                    "x\(quote)\(scalar)", "x\(scalar)\(quote)", "\(quote)\(scalar)\(quote)); .shell x",
                ] {
                    let texts: [JSONValue] = [.string(name)]
                    members[name] = .array(texts)
                }
                count += 1
                guard count % 10 == 0 || count == Self.joining.count else { continue }
                row[members[0].name] = .object(members)
                members = JSONObject()
            }
        }
        let line = JSONWriter.text(of: .object(row))
        try folder.write(Array("\(line)\n".utf8), to: "rows")
        var known = JSONObject()
        // As inferred, and then as DuckDB itself says in SQL.
        for table in ["one.parquet", "two.parquet"] {
            var columns = ParquetColumns([:], known: known)
            try columns.add(Array(line.utf8))
            let (commands, given) = columns.commands()
            try folder.write(given, to: "given")
            try folder.write([], to: table)
            let files = try ["rows", "given", table].map {
                try File.open(folder.path($0), .readWrite, in: .real)
            }
            try DuckDB(
                commands, given: files[1].descriptor, input: files[0].descriptor, output: files[2].descriptor
            ).finish()
            let made = try DuckDB.rows(of: files[2].descriptor).readAll()
            #expect(try JSONValue(parsing: made, limits: .ownLine) == .object(row), "\(table)")
            let found = try DuckDB.columns(of: files[2].descriptor)
            #expect(found.count == row.count)
            known = JSONObject(found.filter { !$0.type.utf8.contains(0) }.map { ($0.name, .string($0.type)) })
            #expect(known.count > row.count - 10)
        }
        let file = try File.open(folder.path("two.parquet"), .read, in: .real)
        let some = row.names.dropFirst(3).prefix(5)
        let made = try JSONValue(
            parsing: DuckDB.rows(of: file.descriptor, only: Set(some)).readAll(), limits: .ownLine)
        #expect(!some.isEmpty && some.allSatisfy { made[$0] == row[$0] })
    }

    /// Neither files nor settings are in reach, whatever a command would say.
    @Test(
        .enabled(if: isThere, "DuckDB's program is not there (no network?)"),
        arguments: [
            "COPY (SELECT 1) TO 'here'", "ATTACH 'here'", "SET enable_external_access=true", "INSTALL httpfs",
            "SELECT getenv('HOME')", "FROM read_text('/etc/passwd')", "FROM '/etc/passwd'", "LOAD 'x.so'",
            "SELECT 1;\n.shell touch here", "SET allowed_paths=['here']", "EXPORT DATABASE 'here'",
        ] as [SQL])
    func commandsReachNothingElse(command: SQL) throws {
        let folder = try TestFolder()
        try folder.write([], to: "nothing")
        let nothing = try File.open(folder.path("nothing"), .read, in: .real)
        #expect(throws: UserError.self) { try DuckDB(command, input: nothing.descriptor).readAll() }
        #expect(access("here", F_OK) != 0)
    }

    @Test(arguments: [
        ("in.arrow", Array("{}".utf8)), ("in.FEATHER", []), ("in.jsonl", Array("ARROW1\0\0x".utf8)),
        ("in.jsonl", [0xFF, 0xFF, 0xFF, 0xFF, 0]),
    ])
    func arrowIsRefused(name: String, bytes: [UInt8]) throws {
        let folder = try TestFolder()
        try folder.write(bytes, to: name)
        let error = #expect(throws: UserError.self) {
            try ByteSource(path: folder.path(name)).readAll(limit: 10)
        }
        #expect(error.map { "\($0)" }?.contains("Convert to Parquet") == true)
        if name != "in.jsonl" { #expect(throws: UserError.self) { try OutputName(name).check() } }
    }

    @Test func bareWordsAreQuoted() {
        func quoted(_ json: String, _ isMeant: (UInt8) -> Bool) -> String {
            String(decoding: JSONBytes.quotingBareWords(in: json.utf8, where: isMeant), as: UTF8.self)
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
