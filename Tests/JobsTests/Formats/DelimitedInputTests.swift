import Foundation
import JSON
import Testing

@testable import BatchPipeline
@testable import Jobs

@Suite struct DelimitedRecordsTests {
    /// What each record says, or why it can't be read.
    private func records(
        _ text: String, _ name: String, chunk: Int = 4096
    ) throws -> [Result<JSONValue, LineError>] {
        try InputReader.records(text, named: name, chunk: chunk).map { record in
            Result { () throws(LineError) in try record.content().fields }
        }
    }

    @Test(arguments: [1, 7, 4096])
    func csvIsAsRFC4180HasIt(chunk: Int) throws {
        let text =
            "\u{FEFF}id,prompt,max_tokens\r\na,\"one, \"\"two\"\"\nthree\",5\r\n\r\nb, plain ,\nc,\"x\"y,1\nd,too,many,cells\ne,,0.5"
        let found = try records(text, "a.csv", chunk: chunk)
        #expect(found.count == 5)
        #expect(try found[0].get() == ["id": "a", "prompt": "one, \"two\"\nthree", "max_tokens": "5"])
        #expect(try found[1].get() == ["id": "b", "prompt": " plain ", "max_tokens": ""])
        for wrong in found[2...3] { #expect(throws: LineError.self) { try wrong.get() } }
        #expect(try found[4].get() == ["id": "e", "prompt": "", "max_tokens": "0.5"])
    }

    @Test func tabsAndPlainText() throws {
        let tabs = try records("q\ttopic\nwhy, oh why\t\"a\tb\"\n", "a.TSV")
        #expect(try tabs.map { try $0.get() } == [["q": "why, oh why", "topic": "a\tb"]])
        let plain = try records("First.\n\n{\"not\": \"json\"}\nlast", "a.txt")
        #expect(
            try plain.map { try $0.get() } == [
                ["prompt": "First."], ["prompt": "{\"not\": \"json\"}"], ["prompt": "last"],
            ])
        #expect(try records("{\"prompt\": \"x\"}\n", "a.jsonl").count == 1)
    }

    /// Renamed columns make other records, and the same ones stay the same wherever they stand.
    @Test func whatARecordIsKnownBy() throws {
        func hashes(_ text: String) throws -> [UInt64] {
            try JobLine.all(text, in: "a.csv") { $0.keep = .all }.map(\.contentHash)
        }
        let first = try hashes("a,b\n1,2\n3,4\n")
        #expect(try hashes("a,b\n3,4\n1,2") == first.reversed())
        #expect(try Set(hashes("a,c\n1,2\n3,4\n")).isDisjoint(with: first))
    }

    /// No other record means anything without the names.
    @Test(arguments: [
        ("id,text,text\na,b,c\n", "the columns 2 and 3 have one name, \"text\""),
        ("id,,\na,b,c\n", "the columns 2 and 3 have one name, \"\""), ("a,\"a\"\n1,2\n", "one name"),
        ("id,\"text\na,b\n", "A quoted field of the record has no end"),
        ("id,\"text\"s\na,b\n", "or text after it"),
    ])
    func aFirstRecordThatNamesNoColumnsIsAnError(text: String, what: String) throws {
        for name in ["a.csv", "a.tsv"] {
            let text = name == "a.csv" ? text : text.replacing(",", with: "\t")
            let error = #expect(throws: UserError.self) { try records("\u{FEFF}" + text, name) }
            #expect(error?.kind == .badJob && error?.place?.hasSuffix("\(name):1") == true)
            #expect(error?.message.contains(what) == true, "\(error?.message ?? "")")
        }
    }

    @Test func aFirstRecordBeyondTheLimitIsAnError() throws {
        let folder = try TestFolder()
        let path = try folder.write(String(repeating: "long", count: 100) + "\na\n", to: "a.csv")
        let error = #expect(throws: UserError.self) { try InputReader(paths: [path], limit: 20).all() }
        #expect(error?.message.contains("has 400 bytes; at most 20 are read") == true)
        let foreign = try folder.write([0x61, 0xff, 0x0a, 0x62, 0x0a], to: "b.csv")
        let encoding = #expect(throws: UserError.self) { try InputReader(paths: [foreign]).all() }
        #expect(encoding?.message.contains("not valid UTF-8") == true)
    }

    /// Only at a field's beginning does a quote open it; within, it is a sign of inches, and joins no rows.
    @Test func aQuoteWithinAFieldIsText() throws {
        let found = try records("prompt\n5\" nail\n6\" nail\n\"\"\n\"a\"\"\nb\"\nx\n", "a.csv")
        #expect(
            try found.map { try $0.get()["prompt"] } == ["5\" nail", "6\" nail", "", "a\"\nb", "x"])
    }

    @Test func linesAreCountedAcrossLineFeeds() throws {
        let folder = try TestFolder()
        let long = String(repeating: "x\n", count: 5000)
        let path = try folder.write("prompt\n\"\(long)\"\nb\n", to: "a.csv")
        #expect(try JobSettings.test(input: [path]).countLines() == 2)
    }

    @Test func theFirstRecordIsLookedAt() throws {
        let folder = try TestFolder()
        let path = try folder.write("question,answer\nwhy,so\n", to: "a.csv")
        let error = #expect(throws: UserError.self) { try JobSettings.test(input: [path]).checkBeginnings() }
        #expect(error?.message.contains("{{ question }}") == true, "\(error?.message ?? "")")
        try JobSettings.test(input: [path]) { $0.prompt = "{{ question }}" }.checkBeginnings()
        let named = try JobSettings.sample("input_format: tsv")
        #expect(named.inputFormat.name == "tsv")
        #expect(throws: UserError.self) {
            try JobSettings.sample("input_format: xml")
        }
    }
}
