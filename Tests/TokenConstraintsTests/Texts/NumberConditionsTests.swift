import JSON
import JSONSchema
import TestSupport
import Testing

@testable import TokenConstraints

@Suite struct NumberConditionsTests {
    static let schemas = [
        "{}", "{\"type\": \"integer\"}", "{\"minimum\": 0}", "{\"exclusiveMinimum\": 0}", "{\"maximum\": 0}",
        "{\"exclusiveMaximum\": 0}", "{\"type\": \"integer\", \"minimum\": 1, \"maximum\": 100}",
        "{\"type\": \"integer\", \"minimum\": -17, \"maximum\": 123}", "{\"minimum\": -90, \"maximum\": 90}",
        "{\"exclusiveMinimum\": 0, \"exclusiveMaximum\": 1}", "{\"minimum\": 0.05, \"maximum\": 0.1}",
        "{\"exclusiveMinimum\": 0.3, \"exclusiveMaximum\": 123.456}",
        "{\"minimum\": -2.5, \"maximum\": -1.25}",
        "{\"minimum\": 1e-7, \"maximum\": 1e15}", "{\"multipleOf\": 0.01}",
        "{\"multipleOf\": 2.5, \"minimum\": 3}",
        "{\"type\": \"integer\", \"multipleOf\": 7, \"minimum\": -100}",
        "{\"type\": \"integer\", \"multipleOf\": 0.5}",
        "{\"multipleOf\": 1}", "{\"type\": \"integer\", \"multipleOf\": 20}",
        "{\"type\": \"integer\", \"minimum\": -9223372036854775808, \"maximum\": 9223372036854775807}",
        "{\"type\": \"integer\", \"minimum\": 0, \"maximum\": 18446744073709551615}",
        "{\"minimum\": -1.7976931348623157e308, \"maximum\": 1.7976931348623157e308}",
        "{\"exclusiveMinimum\": 100, \"exclusiveMaximum\": 101}", "{\"minimum\": 9007199254740993}",
    ]

    @Test(arguments: schemas) func agreesWithTheValidator(text: String) throws {
        let schema = try TextSamples.schema(text)
        let outcome = TextSamples.number(schema)
        #expect(outcome.unmasked.isEmpty)
        let automaton = try #require(outcome.text)
        var draws = FixedRandom(1)
        for most in [2, 6, 20, 70] {
            for _ in 0..<60 {
                let sample = try #require(TextSamples.walk(automaton, &draws, most: most))
                #expect(TextSamples.isTaken(schema, sample), "\(String(decoding: sample, as: UTF8.self))")
            }
        }
        // And the other way round, as numbers are usually written.
        for _ in 0..<300 {
            let places = Int.random(in: 0...3, using: &draws)
            let value = Int.random(in: -20_000...20_000, using: &draws) / [1, 10, 100, 1000][places]
            var sample = String(value)
            let fraction = Int.random(in: 0...99, using: &draws)
            if places > 1, !text.contains("integer"), fraction % 10 != 0 {
                sample += "." + (fraction < 10 ? "0" : "") + String(fraction)
            }
            let isTaken = TextSamples.isTaken(schema, Array(sample.utf8))
            #expect(isTaken == TextSamples.takes(automaton, Array(sample.utf8)), "\(sample)")
        }
    }

    @Test func unusualTexts() throws {
        let any = try #require(NumberConditions().build().text)
        for text in [
            "0", "-0", "-0.0", "1e5", "1.5E-7", "1e-07", "1.7976931348623157e+208",
            "123456789012345678901234",
        ] {
            #expect(TextSamples.takes(any, Array(text.utf8)), "\(text)")
        }
        for text in ["", "-", "01", "1.", ".5", "1e", "1e400", "+1", "1e+", "--1"] {
            #expect(!TextSamples.takes(any, Array(text.utf8)), "\(text)")
        }
    }

    private func conditions(
        _ low: Int, _ high: Int, excludes: Bool = false, multiples: [ExactNumber] = [],
        isInteger: Bool = true
    ) -> NumberConditions {
        NumberConditions(
            isInteger: isInteger, minimum: excludes ? nil : ExactNumber(low),
            exclusiveMinimum: excludes ? ExactNumber(low) : nil, maximum: excludes ? nil : ExactNumber(high),
            exclusiveMaximum: excludes ? ExactNumber(high) : nil, multiples: multiples)
    }

    @Test func emptinessIsTold() {
        #expect(conditions(5, 4).build().text == nil)
        #expect(conditions(4, 4, excludes: true, isInteger: false).build().text == nil)
        #expect(conditions(3, 4, excludes: true, isInteger: false).build().text != nil)
        // A step that no number between the bounds has is left to validation.
        #expect(conditions(3, 4, excludes: true).build().unmasked == [.bounds])
        let seven = [ExactNumber(7)]
        #expect(conditions(8, 13, multiples: seven, isInteger: false).build().unmasked == [.multipleOf])
        #expect(conditions(8, 14, multiples: seven, isInteger: false).build().unmasked.isEmpty)
    }

    @Test func whatIsTooMuchIsLeftOut() throws {
        let fine = NumberConditions(multiples: [ExactNumber(1e-20)]).build()
        #expect(fine.unmasked == [.multipleOf] && fine.text != nil)
        let rests = NumberConditions(isInteger: true, multiples: [ExactNumber(1_000)]).build()
        #expect(rests.unmasked == [.multipleOf] && rests.text != nil)
        let far = NumberConditions(isInteger: true, minimum: ExactNumber(1e20)).build()
        #expect(far.unmasked == [.bounds] && far.text != nil)
    }
}
