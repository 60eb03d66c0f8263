import Foundation
import JSON
import Testing

@testable import Jobs

/// Inputs that are one JSON array.
@Suite struct JSONArrayRecordsTests {
    /// What a record says, or what is wrong with it.
    private enum Found: Equatable {
        case fields(JSONValue)
        case wrong(String)
        case half(String)
    }

    private struct Item {
        var line: Int
        var number: Int
        var found: Found
    }

    private func read(_ text: String, chunk: Int = 4096, limit: Int = 1000) throws -> [Item] {
        let folder = try TestFolder()
        let records = try InputReader(
            paths: [try folder.write(text, to: "in.json")], format: InputFormat.json, limit: limit,
            chunkSize: chunk
        ).all()
        return records.map { record in
            let found: Found
            if record.isHalf {
                found = .half(record.whatIsBroken?.text ?? "")
            } else {
                do throws(LineError) {
                    found = .fields(try record.content().fields)
                } catch {
                    found = .wrong(error.message)
                }
            }
            return Item(line: record.number, number: record.overallNumber, found: found)
        }
    }

    private func fields(_ text: String, chunk: Int = 4096) throws -> [JSONValue?] {
        try read(text, chunk: chunk).map { if case .fields(let fields) = $0.found { fields } else { nil } }
    }

    private static let pretty = """
        [
          {
            "id": "a",
            "tags": [
              {"n": 1},
              "]},{["
            ],
            "prompt": "say \\"[\\" \\\\"
          },
          {
            "id": "b",
            "prompt": "x"
          }
        ]

        """
    private static let prettyFields: [JSONValue] = [
        ["id": "a", "tags": [["n": 1], "]},{["], "prompt": "say \"[\" \\"], ["id": "b", "prompt": "x"],
    ]

    @Test(arguments: [1, 2, 3, 7, 4096])
    func elementsAreFoundInAnyLayout(chunk: Int) throws {
        let found = try read(Self.pretty, chunk: chunk)
        #expect(found.map(\.line) == [2, 10] && found.map(\.number) == [1, 2])
        #expect(try fields(Self.pretty, chunk: chunk) == Self.prettyFields)
        let crlf = "\u{FEFF}" + Self.pretty.replacing("\n", with: "\r\n")
        #expect(try fields(crlf, chunk: chunk) == Self.prettyFields)
        #expect(try read(crlf, chunk: chunk).map(\.line) == [2, 10])
        let compact = Self.pretty.replacing("\n", with: "")
        #expect(try fields(compact, chunk: chunk) == Self.prettyFields)
        #expect(try read(compact, chunk: chunk).map(\.line) == [1, 1])
        #expect(try read(compact, chunk: chunk).map(\.number) == [1, 2])
        for empty in ["[]", " [ \n ] \n", "\u{FEFF}[\r\n]\r\n"] {
            #expect(try read(empty, chunk: chunk).isEmpty)
        }
        #expect(try fields("[{}]", chunk: chunk) == [[:]])
    }

    @Test func elementsThatAreWrongInThemselvesFailAlone() throws {
        let text = """
            [{"id": 1}, 7, "text", null, nul, [{"a": "]"}],
             {"id" 2}, {"id": 3,},
             {'id': 4},
             {"a": NaN, "b": [1}x}, {"id": 5}]
            """
        // The bracket that does not match is the end of it: nothing tells where another element begins.
        let found = try read(text)
        #expect(
            found.prefix(6).map(\.found) == [
                .fields(["id": 1]), .wrong("The element must be a JSON object, but is a number."),
                .wrong("The element must be a JSON object, but is a string."),
                .wrong("The element must be a JSON object, but is null."),
                found[4].found, .wrong("The element must be a JSON object, but is a list."),
            ])
        for number in [4, 6, 7, 8] {
            guard case .wrong(let what) = found[number].found else {
                Issue.record("\(found[number])")
                continue
            }
            #expect(what.hasPrefix("The element is not valid JSON: "), "\(what)")
            #expect(what.hasSuffix(" in line \(found[number].line)."), "\(what)")
        }
        #expect(found.count == 10 && found[9].line == 4)
        guard case .half(let what) = found[9].found else {
            Issue.record("\(found[9])")
            return
        }
        #expect(what.contains("} where ] should be in line 4. Nothing tells"), "\(what)")
    }

    @Test func commasThatAreMissingOrTooManyAreErrors() throws {
        let found = try read("[,{\"a\":1} {\"a\":2},,\n{\"a\":3},]")
        #expect(
            found.map(\.found) == [
                .wrong("There is no element before the comma."), .fields(["a": 1]),
                .wrong("There is no comma before the element."),
                .wrong("There is no element before the comma."), .fields(["a": 3]),
                .wrong("There is no element after the last comma."),
            ])
        #expect(found.map(\.number) == [1, 2, 3, 4, 5, 6] && found.map(\.line) == [1, 1, 1, 1, 2, 2])
    }

    private static let whole = (0..<4).map { "{\"id\": \($0), \"prompt\": \"p\"}" }

    /// Nothing tells where the next one begins: what follows is left unread, and that is one error.
    @Test(arguments: [
        #"{"id": 2, "prompt": "p}"#, #"{"id": 2, "prompt": "p""#, #"{"id": 2, "prompt": ["p"}"#,
        #"{"id": 2, "prompt": {"p"]}"#, #"{"id": 2, [}"#, #"{{"id": 2}"#, #"{"id": 2, "b": [{} {}]}"#,
    ])
    func nothingIsReadAfterBracketsThatDoNotMatch(bad: String) throws {
        for (separator, chunk) in [(",\n", 1), (",\n", 4096), (", ", 5)] {
            let elements = [Self.whole[0], bad, Self.whole[3]]
            let found = try read("[" + elements.joined(separator: separator) + "]", chunk: chunk)
            guard case .half(let what)? = found.last?.found else {
                Issue.record("\(found)")
                continue
            }
            // A string without an end may take all that follows.
            let isTold = what.contains("Nothing tells where") || what.contains("that begins here has no end")
            #expect(found.count == 2 && isTold, "\(what)")
        }
    }

    /// However much of it is there: what is whole is read, and the rest is half.
    @Test func aCutArrayEndsInHalf() throws {
        let text = Array(Self.pretty.utf8)
        let end = (text.lastIndex(of: UInt8(ascii: "]")) ?? 0) + 1
        for length in 0..<end {
            let found = try read(String(decoding: text[..<length], as: UTF8.self))
            guard case .half? = found.last?.found else {
                Issue.record("\(length): \(found)")
                continue
            }
            #expect(
                found.dropLast().map(\.found) == Self.prettyFields.prefix(found.count - 1).map { .fields($0) }
            )
        }
        let two = try read("[{}]\n[{}]")
        #expect(two.count == 2 && two[1].found == .half("something follows the end of the array."))
    }

    @Test func whatIsNoArrayIsOneError() throws {
        for text in ["{\"a\": 1}", "x", "\u{FEFF}\n\"a\""] {
            #expect { try read(text) } throws: { "\($0)".contains("is no JSON array") }
        }
    }

    @Test(arguments: [1, 4096])
    func longElementsAreMeasured(chunk: Int) throws {
        let long = "{\"prompt\": \"" + String(repeating: "x", count: 500) + "\"}"
        let found = try read("[{\"a\": 1}, \(long), {\"a\": 2}]", chunk: chunk, limit: 100)
        #expect(found.map(\.number) == [1, 2, 3] && found[2].found == .fields(["a": 2]))
        guard case .wrong(let what) = found[1].found else { throw CancellationError() }
        #expect(what.contains("has \(long.utf8.count) bytes"))
        // However deep.
        let deep = String(repeating: "[", count: 3000) + String(repeating: "]", count: 3000)
        #expect(try read("[\(deep), {\"a\": 2}]")[1].found == .fields(["a": 2]))
    }

    /// A name that ends in `.json` has always been one of JSON lines; what is in it decides.
    @Test func aNameSaysArrayWhereThereIsOne() throws {
        let folder = try TestFolder()
        func format(_ text: [UInt8], _ name: String) throws -> String {
            InputFormat.auto.format(for: try folder.write(text, to: name)).name
        }
        func format(_ text: String, _ name: String = "a.json") throws -> String {
            try format(Array(text.utf8), name)
        }
        #expect(try format("[{\"a\": 1},\n{}]") == "json")
        #expect(try format(" \n [\n{\"a\": 1}]", "A.JSON") == "json")
        #expect(try format("\u{FEFF}[" + String(repeating: "{\"a\": 1},", count: 20000)) == "json")
        #expect(try format(GzipTests.packed("[{\"a\": 1}]"), "a.json.gz") == "json")
        #expect(try format("{\"a\": 1}\n") == "auto")
        #expect(try format("[1, 2]\n{\"a\": 1}\n") == "auto")
        #expect(try format("") == "auto")
        #expect(try format("[{\"a\": 1}]", "a.jsonl") == "auto")
    }

    /// Laid out anew, an input's lines are the same; without ids they are known by their number.
    @Test func elementsAreKnownByWhatTheySay() throws {
        let folder = try TestFolder()
        func known(_ text: String, _ name: String) throws -> [String] {
            let keys = try LineKeys(.test(input: []) { $0.keep = .all })
            return try InputReader(paths: [try folder.write(text, to: name)]).all().map { record in
                let line = JobLine(record, keys)
                return "\(line.id) \(line.contentHash)"
            }
        }
        let lines = try known("{\"id\":\"a\",\"x\":1}\n{\"x\":2}\n", "a.jsonl")
        #expect(try known("[{\"id\":\"a\",\"x\":1},{\"x\":2}]", "a.json") == lines)
        #expect(try known("[\n {\n \"id\": \"a\",\n \"x\": 1 },\n\n { \"x\": 2}]\n", "b.json") == lines)
    }

    @Test func openAIsRequestsMayBeElements() throws {
        let folder = try TestFolder()
        let request =
            #"{"custom_id":"a","method":"POST","url":"/v1/chat/completions","body":{"messages":[{"role":"user","content":"x"}]}}"#
        let path = try folder.write("[\(request)]", to: "a.json")
        #expect(JobSettings.test(input: [path]).firstLineIsRequest)
        #expect(!JobSettings.test(input: [try folder.write("[{}]", to: "b.json")]).firstLineIsRequest)
    }

    @Test func anArrayIsNotFollowed() throws {
        let folder = try TestFolder()
        let path = try folder.write("[{\"a\": 1}]", to: "a.json")
        let job = JobSettings.test(input: [path]) { $0.awaitsInput = true }
        #expect { try job.check(file: nil) } throws: { "\($0)".contains("can't be followed") }
        let reader = InputReader(paths: [path], follow: FollowedInput(job) { false })
        #expect { try reader.all() } throws: { "\($0)".contains("Run without --follow") }
    }

    /// Half a file is one error, and what is done is kept.
    @Test func aRunOfAnArray() throws {
        let folder = try TestFolder()
        func run(_ text: String) throws -> RunOutcome {
            try folder.write(text.utf8, to: "in.json")
            var job = JobSettings.test(input: [folder.path("in.json")])
            job.maxFailures = .count(1)
            return try Runner(job: job, model: ScriptedModel(), store: openStore(folder)).run()
        }
        let elements = (0..<3).map { "{\"id\": \"n\($0)\", \"prompt\": \"p \($0)\"}" }
        let error = #expect(throws: UserError.self) {
            try run("[\n" + elements[0...1].joined(separator: ",\n") + ",\n{\"id\": \"n2\"")
        }
        #expect(error?.kind == .io && error?.place == folder.path("in.json") + ":4")
        #expect(
            error?.message.contains(
                "is incomplete: the array's element that begins here has no end.") == true)
        #expect(folder.isOpen && !folder.has("out.jsonl"))
        let bad = try run("[\n" + elements.joined(separator: ",\n") + ",\n{\"id\" 3}\n]")
        #expect(bad.status == .complete && bad.statistics.done == 1 && bad.statistics.skipped == 2)
        #expect(bad.failures.map(\.line) == [5] && bad.failures[0].file == folder.path("in.json"))
    }
}
