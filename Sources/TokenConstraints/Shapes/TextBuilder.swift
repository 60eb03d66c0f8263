import FoundationShim
import JSON
import JSONSchema

/// Makes the automata of texts, each once.
final class TextBuilder {
    private let schema: Schema
    private let effort: CompileEffort
    private var strings: [StringConditions: TextOutcome<StringText>] = [:]
    private var numbers: [NumberConditions: TextOutcome<any ByteAutomaton>] = [:]
    private var literals: [[[UInt8]]: LiteralText] = [:]
    private var literalCount = 0
    private var literalBytes = 0

    /// Arrays and objects of enumerations, by the automaton that writes them.
    typealias CompoundLiterals = [ObjectIdentifier: [ValueKey: JSONValue]]
    private(set) var compounds: CompoundLiterals = [:]

    init(_ schema: Schema, _ effort: CompileEffort) {
        self.schema = schema
        self.effort = effort
    }

    func string(_ part: StringPart) -> (text: StringText?, unmasked: Set<KeywordPlace>) {
        text(part, &strings)
    }

    func number(_ part: NumberPart) -> (text: (any ByteAutomaton)?, unmasked: Set<KeywordPlace>) {
        text(part, &numbers)
    }

    private func text<Conditions: TextConditions>(
        _ part: TextPart<Conditions>, _ known: inout [Conditions: TextOutcome<Conditions.Text>]
    ) -> (text: Conditions.Text?, unmasked: Set<KeywordPlace>) {
        if known[part.conditions] == nil, known.count > ShapeLimits.texts, part.conditions != Conditions() {
            return (text(TextPart(), &known).text, part.unmasked.union(places(of: part.origins)))
        }
        let outcome = known[part.conditions] ?? part.conditions.build(effort)
        known[part.conditions] = outcome
        return (outcome.text, part.unmasked.union(places(of: outcome.unmasked, part.origins)))
    }

    /// - Throws: `ConstraintFault` if there are too many.
    func literal(_ values: [Literal], at pointer: String) throws(ConstraintFault) -> LiteralText {
        guard values.count <= ShapeLimits.literals - literalCount else {
            throw Self.tooManyLiterals(at: pointer)
        }
        let texts = values.map { Self.text(of: $0.value) }
        if let known = literals[texts] { return known }
        literalCount += values.count
        literalBytes += texts.reduce(0) { $0 + $1.count }
        guard literalBytes <= ShapeLimits.literalBytes else {
            throw ConstraintFault(
                .tooLarge, at: pointer,
                "the values of enumerations come to more than \(ShapeLimits.literalBytes) bytes")
        }
        let text = LiteralText(texts)
        literals[texts] = text
        for literal in values {
            switch literal.value {
            case .array, .object: compounds[ObjectIdentifier(text), default: [:]][literal.key] = literal.value
            default: break
            }
        }
        return text
    }

    static func tooManyLiterals(at pointer: String) -> ConstraintFault {
        ConstraintFault(
            .tooLarge, at: pointer, "enumerations come to more than \(ShapeLimits.literals) values")
    }

    private func places(of origins: [SchemaID]) -> [KeywordPlace] {
        origins.map { KeywordPlace(node: $0, keyword: "") }
    }

    /// The keywords of a condition's schemas.
    func places(of conditions: [TextCondition], _ origins: [SchemaID]) -> Set<KeywordPlace> {
        var places: Set<KeywordPlace> = []
        for condition in conditions {
            var found: [KeywordPlace] = []
            for origin in origins {
                let rules = schema[origin].rules
                found += keywords(condition, rules).map { KeywordPlace(node: origin, keyword: $0) }
            }
            places.formUnion(found.isEmpty ? self.places(of: origins) : found)
        }
        return places
    }

    private func keywords(_ condition: TextCondition, _ rules: SchemaRules) -> [String] {
        var keywords: [String] = []
        func add(_ keyword: String, _ isThere: Bool) { if isThere { keywords.append(keyword) } }
        switch condition {
        case .pattern(let pattern): add("pattern", rules.string?.pattern?.pattern == pattern)
        case .format(let format): add("format", rules.string?.format == format)
        case .length:
            add("minLength", rules.string?.minLength ?? 0 > 0)
            add("maxLength", rules.string?.maxLength != nil)
        case .forbidden:
            add("const", rules.constant != nil)
            add("enum", rules.enumeration != nil)
        case .bounds:
            add("minimum", rules.number?.minimum != nil)
            add("exclusiveMinimum", rules.number?.exclusiveMinimum != nil)
            add("maximum", rules.number?.maximum != nil)
            add("exclusiveMaximum", rules.number?.exclusiveMaximum != nil)
        case .multipleOf: add("multipleOf", rules.number?.multipleOf != nil)
        }
        return keywords
    }

    // MARK: Spelling

    /// Returns a value in compact form, as in answers; members in their own order.
    /// - Parameter keepsFractions: whether a number that is no integer, such as 1.0, stays so.
    static func text(of value: JSONValue, keepsFractions: Bool = false) -> [UInt8] {
        var bytes: [UInt8] = []
        append(value, keepsFractions, to: &bytes)
        return bytes
    }

    private static func append(_ value: JSONValue, _ keepsFractions: Bool, to bytes: inout [UInt8]) {
        switch value {
        case .null: bytes += "null".utf8
        case .bool(let flag): bytes += (flag ? "true" : "false").utf8
        case .int(let number): bytes += String(number).utf8
        case .number(let number):
            let text = ExactNumber(number).description
            bytes += text.utf8
            if keepsFractions, !number.isWhole, Int(text) != nil {
                bytes += ".0".utf8
            }
        case .string(let text): append(text, to: &bytes)
        case .array(let items):
            bytes.append(UInt8(ascii: "["))
            for (index, item) in items.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                append(item, keepsFractions, to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                append(member.name, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                append(member.value, keepsFractions, to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    private static func append(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        bytes += JSONSpelling.contents(of: text)
        bytes.append(UInt8(ascii: "\""))
    }
}
