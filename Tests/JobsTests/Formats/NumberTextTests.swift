import JSON
import PhiModel
import PhiText
import Testing

@testable import BatchPipeline
@testable import Jobs

/// A number that is carried along keeps its text, digit by digit.
@Suite struct NumberTextTests {
    static let numbers = [
        "18446744073709551615", "-9223372036854775809", "0.1234567890123456789012345", "1.0", "1.50", "1e2",
        "-0", "12345678901234567890.5", "1E+30",
    ]

    @Test(arguments: numbers) func inFieldsThatAreKept(number: String) throws {
        let line = try PromptRecord.parse(Array("{\"n\":\(number),\"list\":[{\"m\":\(number)}]}".utf8)).fields
        for kept in [KeptFields.all, .fields([.init("n"), .init("list")])] {
            let values = kept.values(of: line, for: .generate)
            #expect(values.map { JSONWriter.text(of: $0.value) } == [number, "[{\"m\":\(number)}]"])
        }
        // Again from a result, as a further step reads it.
        var result = GenerationResult.completion("t", promptTokens: 1, completionTokens: 1)
        result.kept = KeptFields.fields([.init("n")]).values(of: line, for: .generate)
        #expect(ResultFormat.csv(keeping: ["n"]).text(of: result).hasSuffix(",\(number)\n"))
    }

    @Test(arguments: numbers) func inTemplates(number: String) throws {
        let line = try PromptRecord.parse(Array("{\"x\":\(number),\"o\":{\"m\":[\(number)]}}".utf8))
        func text(_ template: String) throws -> String {
            try TextTemplate("prompt", template).fill(from: line.fields)
        }
        #expect(try text("{{ x }}|{{ x ~ '' }}|{{ o.m[0] | string }}") == "\(number)|\(number)|\(number)")
        #expect(try text("{{ o | tojson }}|{{ o }}") == "{\"m\": [\(number)]}|{'m': [\(number)]}")
        #expect(try text("{% set y = x %}{{ [y] | join }}") == number)
    }

    @Test func templatesCompareAllDigits() throws {
        let json = """
            {"a":18446744073709551615,"b":18446744073709551616,"c":1.50,"d":1.5,"e":18446744073709551615.0}
            """
        let line = try PromptRecord.parse(Array(json.utf8))
        func text(_ template: String) throws -> String {
            try TextTemplate("prompt", template).fill(from: line.fields)
        }
        #expect(try text("{{ a == b }} {{ a < b }} {{ c == d }} {{ a == e }}") == "False True True True")
        #expect(try text("{{ [b, a] | sort | join(',') }}") == "18446744073709551615,18446744073709551616")
        #expect(try text("{{ a is integer }} {{ c is float }} {{ a is number }}") == "True True True")
        #expect(try text("{{ {a: 1}[e] }} {{ [a, b, e] | unique | list | length }}") == "1 2")
        #expect(try text("{{ c + 1 }} {{ a | int }}") == "2.5 18446744073709551615")
        // Rounded it would be another number.
        let error = #expect(throws: LineError.self) { try text("{{ a + 1 }}") }
        #expect(error?.message.contains("too large for 64 bits") == true)
    }

    @Test func inIDs() throws {
        for (number, id) in [
            ("18446744073709551615", "18446744073709551615"), ("1.0", "1"), ("1e2", "100"), ("-0", "-0"),
        ] {
            #expect(try JobLine.id(of: PromptRecord.parseObject(Array("{\"id\":\(number)}".utf8))) == id)
        }
        #expect(throws: LineError.self) { try PromptRecord.parse(Array(#"{"id":1.5}"#.utf8)) }
        let error = #expect(throws: LineError.self) {
            try PromptRecord.parse(Array(#"{"prompt":"x","seed":18446744073709551615}"#.utf8))
        }
        #expect(error?.message.contains("18446744073709551615") == true)
    }

    /// Cells are text, and are carried along as they stand.
    @Test func inColumns() throws {
        let text = "temperature,n,seed\n0.70,18446744073709551615,+5\n"
        let record = try #require(try InputReader.records(text, named: "a.csv").first)
        let values = KeptFields.all.values(of: try record.content().fields, for: .score)
        #expect(values.map(\.value) == ["0.70", "18446744073709551615", "+5"])
    }

    /// The digest of a schema, and so a run's fingerprint, doesn't change with a number's spelling.
    @Test func aSchemasDigestIsThatOfEarlierVersions() throws {
        func text(_ schema: String) throws -> String {
            AnswerFormat.schema(try JSONValue(parsing: Array(schema.utf8), limits: .file)).text
        }
        #expect(
            try text(#"{"enum":[1.0,1.50,1e2,-0,0.1,1e25,1E-7]}"#)
                == #"{"enum":[1,1.5,100,0,0.1,1e+25,1e-07]}"#)
        #expect(
            try text(#"{"maximum":18446744073709551615}"#) == #"{"maximum":18446744073709551615}"#)
    }
}
