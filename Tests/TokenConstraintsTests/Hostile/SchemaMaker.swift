/// Small random schemas of all keywords. They say little that makes sense, and much at once.
struct SchemaMaker {
    private var random: PlainRandom
    private var hasDefinitions = false

    private static let names = ["a", "b", "ab", "é", "x\\\"y", ""]
    private static let patterns = [
        "^a", "b$", "^[ab]{1,3}$", "^(a|aa)*$", "a.*b", "^x?$", "\\\\d", "^\\\\w+$", "[^a]", "^.{2}$", "é|日",
        "\\\\bab\\\\b",
    ]
    private static let formats = [
        "date", "time", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "uri", "uuid", "regex",
        "foo",
    ]
    private static let numbers = [
        "0", "1", "-1", "3", "2.5", "-0.5", "10", "1e2", "7", "0.1", "1e-3", "100000", "-7", "1.0",
    ]
    private static let strings = [
        #""""#, #""a""#, #""ab""#, #""b""#, #""é""#, #""\u0000""#, #""aab""#, #""2024-01-01""#,
    ]

    init(_ seed: Int) { random = PlainRandom(seed) }

    /// A schema, as JSON; now and then one with definitions that lead back.
    mutating func document() -> String {
        hasDefinitions = one(in: 3)
        let schema = schema(number(1...4))
        guard hasDefinitions, schema.hasPrefix("{") else { return schema }
        let definitions = #""$defs":{"p":\#(self.schema(2)),"q":\#(self.schema(2))}"#
        return schema == "{}" ? "{\(definitions)}" : "\(schema.dropLast()),\(definitions)}"
    }

    // MARK: Choices

    private mutating func pick<T>(_ choices: [T]) -> T { choices[number(0...choices.count - 1)] }
    private mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
    private mutating func one(in count: Int) -> Bool { number(1...count) == 1 }

    private mutating func list(_ range: ClosedRange<Int>, _ item: (inout Self) -> String) -> String {
        var items: [String] = []
        for _ in 0..<number(range) { items.append(item(&self)) }
        return "[\(items.joined(separator: ","))]"
    }

    private mutating func map(
        _ range: ClosedRange<Int>, _ names: [String], _ value: (inout Self) -> String
    ) -> String {
        var members: [String: String] = [:]
        for _ in 0..<number(range) { members[pick(names)] = value(&self) }
        let texts = members.sorted { $0.key < $1.key }.map { #""\#($0.key)":\#($0.value)"# }
        return "{\(texts.joined(separator: ","))}"
    }

    private mutating func nameList() -> String {
        let names = Set((0..<number(0...3)).map { _ in pick(Self.names) })
        return "[\(names.sorted().map { #""\#($0)""# }.joined(separator: ","))]"
    }

    // MARK: Schemas

    private mutating func value(_ depth: Int) -> String {
        switch number(0...(depth > 0 ? 8 : 5)) {
        case 0: "null"
        case 1: pick(["true", "false"])
        case 2, 3: pick(Self.numbers)
        case 4, 5: pick(Self.strings)
        case 6, 7: list(0...2) { $0.value(depth - 1) }
        default: map(0...2, Self.names) { $0.value(depth - 1) }
        }
    }

    private mutating func leaf() -> String {
        switch number(0...9) {
        case 0: return "true"
        case 1: return one(in: 4) ? "false" : "{}"
        case 2 where hasDefinitions: return ##"{"$ref":"#/$defs/\##(pick(["p", "q"]))"}"##
        case 3 where hasDefinitions: return ##"{"$ref":"#"}"##
        default:
            let types = ["null", "boolean", "string", "integer", "number", "array", "object"]
            return #"{"type":"\#(pick(types))"}"#
        }
    }

    private enum Kind: CaseIterable { case string, number, array, object, combined }

    private mutating func schema(_ depth: Int) -> String {
        if depth <= 0 || one(in: 12) { return leaf() }
        var members: [String: String] = [:]
        var kinds = Kind.allCases
        switch number(0...8) {
        case 0: (members["type"], kinds) = (#""string""#, [.string, .string, .combined])
        case 1:
            (members["type"], kinds) = (pick([#""number""#, #""integer""#]), [.number, .number, .combined])
        case 2: (members["type"], kinds) = (#""array""#, [.array, .array, .combined])
        case 3, 4, 5: (members["type"], kinds) = (#""object""#, [.object, .object, .combined])
        case 6: members["type"] = #"["string","\#(pick(["object", "array", "null", "number"]))"]"#
        default: break
        }
        for _ in 0..<number(1...4) {
            let kind = one(in: 5) ? pick(Kind.allCases) : pick(kinds)
            add(kind, depth - 1, to: &members)
        }
        let texts = members.sorted { $0.key < $1.key }.map { #""\#($0.key)":\#($0.value)"# }
        return "{\(texts.joined(separator: ","))}"
    }

    private mutating func add(_ kind: Kind, _ depth: Int, to members: inout [String: String]) {
        let keyword: String
        switch kind {
        case .string:
            keyword = pick(["minLength", "maxLength", "pattern", "pattern", "format"])
            members[keyword] =
                keyword == "pattern"
                ? #""\#(pick(Self.patterns))""#
                : keyword == "format" ? #""\#(pick(Self.formats))""# : "\(number(0...4))"
        case .number:
            keyword = pick(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"])
            members[keyword] =
                keyword == "multipleOf"
                ? pick(["1", "2", "0.5", "3", "0.1", "7", "2.5"]) : pick(Self.numbers)
        case .array:
            keyword = pick([
                "items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains", "unevaluatedItems",
                "minContains", "maxContains",
            ])
            switch keyword {
            case "items", "contains", "unevaluatedItems": members[keyword] = schema(depth)
            case "prefixItems": members[keyword] = list(1...3) { $0.schema(depth) }
            case "uniqueItems": members[keyword] = "true"
            default: members[keyword] = "\(number(0...4))"
            }
        case .object: addObjectKeyword(depth, to: &members)
        case .combined:
            keyword = pick(["enum", "const", "anyOf", "allOf", "oneOf", "not", "if", "anyOf", "oneOf"])
            switch keyword {
            case "const": members[keyword] = value(2)
            case "enum": members[keyword] = list(1...4) { $0.value(2) }
            case "not": members[keyword] = schema(depth)
            case "if":
                members["if"] = schema(depth)
                members["then"] = schema(depth)
                if one(in: 2) { members["else"] = schema(depth) }
            default: members[keyword] = list(1...3) { $0.schema(depth) }
            }
        }
    }

    private mutating func addObjectKeyword(_ depth: Int, to members: inout [String: String]) {
        let keyword = pick([
            "properties", "properties", "required", "additionalProperties", "patternProperties",
            "propertyNames", "minProperties", "maxProperties", "dependentRequired", "dependentSchemas",
            "unevaluatedProperties",
        ])
        switch keyword {
        case "properties", "dependentSchemas": members[keyword] = map(1...3, Self.names) { $0.schema(depth) }
        case "patternProperties": members[keyword] = map(1...3, Self.patterns) { $0.schema(depth) }
        case "required": members[keyword] = nameList()
        case "dependentRequired": members[keyword] = map(1...3, Self.names) { $0.nameList() }
        case "additionalProperties", "unevaluatedProperties":
            members[keyword] = one(in: 2) ? "false" : schema(depth)
        case "propertyNames":
            members[keyword] = one(in: 2) ? #"{"pattern":"\#(pick(Self.patterns))"}"# : schema(depth)
        default: members[keyword] = "\(number(0...4))"
        }
    }
}
