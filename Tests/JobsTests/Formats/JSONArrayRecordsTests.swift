import Foundation
import JSON
import Testing

@testable import Jobs

/// Inputs that are one JSON array.
@Suite struct JSONArrayRecordsTests {
    /// A record: what it says, or what is wrong with it; and why it is half, if it is.
    private typealias Item = (line: Int, number: Int, said: String, half: String?)

    private func read(_ text: String, chunk: Int = 4096, limit: Int = 1000) throws -> [Item] {
        try InputReader.records(text, format: .json, limit: limit, chunk: chunk).map { record in
            let said: String
            do throws(LineError) { said = JSONWriter.text(of: try record.content().fields) } catch {
                said = error.message
            }
            let half = record.isHalf ? record.whatIsBroken?.text ?? "" : nil
            return (record.number, record.overallNumber, said, half)
        }
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
    private static let prettySaid = [
        #"{"id":"a","tags":[{"n":1},"]},{["],"prompt":"say \"[\" \\"}"#, #"{"id":"b","prompt":"x"}"#,
    ]

    @Test(arguments: [1, 2, 3, 7, 4096])
    func elementsAreFoundInAnyLayout(chunk: Int) throws {
        let found = try read(Self.pretty, chunk: chunk)
        #expect(found.map(\.line) == [2, 10] && found.map(\.number) == [1, 2])
        #expect(try read(Self.pretty, chunk: chunk).map(\.said) == Self.prettySaid)
        let crlf = "\u{FEFF}" + Self.pretty.replacing("\n", with: "\r\n")
        #expect(try read(crlf, chunk: chunk).map(\.said) == Self.prettySaid)
        #expect(try read(crlf, chunk: chunk).map(\.line) == [2, 10])
        let compact = Self.pretty.replacing("\n", with: "")
        #expect(try read(compact, chunk: chunk).map(\.said) == Self.prettySaid)
        #expect(try read(compact, chunk: chunk).map(\.line) == [1, 1])
        #expect(try read(compact, chunk: chunk).map(\.number) == [1, 2])
        for empty in ["[]", " [ \n ] \n", "\u{FEFF}[\r\n]\r\n"] {
            #expect(try read(empty, chunk: chunk).isEmpty)
        }
        #expect(try read("[{}]", chunk: chunk).map(\.said) == ["{}"])
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
        let said = found.map(\.said)
        for (number, kind) in [(1, "a number"), (2, "a string"), (3, "null"), (5, "a list")] {
            #expect(said[number] == "The element must be a JSON object, but is \(kind).")
        }
        for number in [4, 6, 7, 8] {
            #expect(said[number].hasPrefix("The element is not valid JSON: "), "\(said[number])")
            #expect(said[number].hasSuffix(" in line \(found[number].line)."), "\(said[number])")
        }
        #expect(found.count == 10 && said[0] == "{\"id\":1}" && found[9].line == 4)
        #expect(found.map { $0.half == nil } == Array(repeating: true, count: 9) + [false])
        #expect(found[9].half?.contains("} where ] should be in line 4. Nothing tells") == true)
    }

    @Test func commasThatAreMissingOrTooManyAreErrors() throws {
        let found = try read("[,{\"a\":1} {\"a\":2},,\n{\"a\":3},]")
        #expect(
            found.map(\.said) == [
                "There is no element before the comma.", "{\"a\":1}", "There is no comma before the element.",
                "There is no element before the comma.", "{\"a\":3}",
                "There is no element after the last comma.",
            ])
        #expect(found.map(\.number) == [1, 2, 3, 4, 5, 6] && found.allSatisfy { $0.half == nil })
        #expect(found.map(\.line) == [1, 1, 1, 1, 2, 2])
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
            // A string without an end may take all that follows.
            let what = found.last?.half ?? ""
            let isTold = what.contains("Nothing tells where") || what.contains("that begins here has no end")
            #expect(found.count == 2 && isTold, "\(found)")
        }
    }

    /// However much of it is there: what is whole is read, and the rest is half.
    @Test func aCutArrayEndsInHalf() throws {
        let text = Array(Self.pretty.utf8)
        let end = (text.lastIndex(of: UInt8(ascii: "]")) ?? 0) + 1
        for length in 0..<end {
            let found = try read(String(decoding: text[..<length], as: UTF8.self))
            #expect(found.last?.half != nil && found.dropLast().allSatisfy { $0.half == nil }, "\(length)")
            #expect(found.dropLast().map(\.said) == Array(Self.prettySaid.prefix(found.count - 1)))
        }
        let two = try read("[{}]\n[{}]")
        #expect(two.count == 2 && two[1].half == "something follows the end of the array.")
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
        #expect(found.map(\.number) == [1, 2, 3] && found[2].said == "{\"a\":2}")
        #expect(found[1].said.contains("has \(long.utf8.count) bytes"))
        // However deep.
        let deep = String(repeating: "[", count: 3000) + String(repeating: "]", count: 3000)
        #expect(try read("[\(deep), {\"a\": 2}]")[1].said == "{\"a\":2}")
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
        func known(_ text: String, _ name: String) throws -> [String] {
            try JobLine.all(text, in: name) { $0.keep = .all }.map { "\($0.id) \($0.contentHash)" }
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
