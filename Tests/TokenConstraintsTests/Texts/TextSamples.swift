import JSON
import JSONSchema
import TestSupport
import Testing

@testable import TokenConstraints

/// Texts of automata, and whether the validator takes them.
enum TextSamples {
    static func value(_ text: [UInt8]) -> JSONValue? { try? JSONValue(parsing: text, limits: .line) }

    static func schema(_ text: String) throws -> Schema {
        try Schema(JSONValue(parsing: Array(text.utf8), limits: .line))
    }

    static func isTaken(_ schema: Schema, _ text: [UInt8]) -> Bool {
        value(text).map { schema.accepts($0, assertsFormats: true) } ?? false
    }

    static func quoted(_ contents: [UInt8]) -> [UInt8] {
        [UInt8(ascii: "\"")] + contents + [UInt8(ascii: "\"")]
    }

    static func string(_ schema: Schema) -> TextOutcome<StringText> {
        let rules = schema[schema.root].rules.string
        return StringConditions(
            patterns: rules?.pattern.map { [$0] } ?? [], formats: rules?.format.map { [$0] } ?? [],
            minLength: rules?.minLength ?? 0, maxLength: rules?.maxLength
        ).build()
    }

    static func number(_ schema: Schema) -> TextOutcome<any ByteAutomaton> {
        let rules = schema[schema.root].rules
        return NumberConditions(
            isInteger: rules.types?.description == "an integer"
                || "\(rules.types as Any)".contains("integer"),
            minimum: rules.number?.minimum, exclusiveMinimum: rules.number?.exclusiveMinimum,
            maximum: rules.number?.maximum, exclusiveMaximum: rules.number?.exclusiveMaximum,
            multiples: rules.number?.multipleOf.map { [$0] } ?? []
        ).build()
    }

    /// Where a text leads; nil if nowhere.
    static func state(_ automaton: any ByteAutomaton, _ text: [UInt8]) -> Int32? {
        var state = automaton.start
        for byte in text {
            state = automaton.next(state, byte)
            if state < 0 { return nil }
        }
        return state
    }

    static func takes(_ automaton: any ByteAutomaton, _ text: [UInt8]) -> Bool {
        state(automaton, text).map { automaton.isFinal($0) } ?? false
    }

    /// Whether the whole text can be written under the bounds on the length too.
    static func takes(_ text: StringText, _ bytes: [UInt8]) -> Bool {
        var state = text.contents.start
        var count = 0
        for byte in bytes {
            state = text.contents.next(state, byte)
            guard state >= 0 else { return false }
            if text.contents.isBetweenScalars(state) { count += 1 }
            guard text.fewestBytes(state, count: count) != nil else { return false }
        }
        return text.fewestBytes(state, count: count) == 0
    }

    /// A random text, with the shortest end after so many bytes. Each distance on the way is checked.
    static func walk(
        _ automaton: any ByteAutomaton, _ draws: inout FixedRandom, most: Int,
        fewest: (Int32, Int) -> Int?
    ) -> [UInt8]? {
        var bytes: [UInt8] = []
        var state = automaton.start
        var count = 0
        while true {
            guard let distance = fewest(state, count) else { return nil }
            var ways: [(byte: UInt8, state: Int32, count: Int, distance: Int)] = []
            for byte in UInt8.min...UInt8.max {
                let next = automaton.next(state, byte)
                guard next >= 0 else { continue }
                let length = automaton.isBetweenScalars(next) ? count + 1 : count
                if let distance = fewest(next, length) { ways.append((byte, next, length, distance)) }
            }
            if distance == 0 {
                if ways.isEmpty || bytes.count >= most || Int.random(in: 0..<6, using: &draws) == 0 {
                    return bytes
                }
            } else {
                guard ways.map(\.distance).min() == distance - 1 else { return nil }
            }
            let isLate = bytes.count >= most
            let open = isLate ? ways.filter { $0.distance == distance - 1 } : ways
            guard let way = open.randomElement(using: &draws) else { return nil }
            bytes.append(way.byte)
            (state, count) = (way.state, way.count)
        }
    }

    static func walk(_ automaton: any ByteAutomaton, _ draws: inout FixedRandom, most: Int = 40) -> [UInt8]? {
        walk(automaton, &draws, most: most) { state, _ in
            automaton.isFinal(state) == (automaton.fewestBytes(state) == 0)
                ? automaton.fewestBytes(state) : nil
        }
    }

    static func walk(_ text: StringText, _ draws: inout FixedRandom, most: Int = 40) -> [UInt8]? {
        walk(text.contents, &draws, most: most) { text.fewestBytes($0, count: $1) }
    }
}
