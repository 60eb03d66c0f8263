import Foundations
import JSONSchema

/// Finds numbers in finished answers of which a schema's verdict can't be trusted: a reader of JSON rounds integers
/// beyond 64 bits and fractions of too many digits, and what is judged is the rounded number.
///
/// Rounding keeps numbers in their order, so it only matters where a number comes to lie on a bound or on a value of
/// the schema, becomes an integer, or must be a multiple or unlike others.
struct RoundedNumbers: Sendable {
    /// What numbers are compared with.
    private var marks: Set<ExactNumber> = []
    /// Any rounding may matter.
    private var refusesAll = false

    init(_ schema: Schema) {
        for node in schema.nodes {
            let rules = node.rules
            if let number = rules.number {
                marks.formUnion(
                    [number.minimum, number.exclusiveMinimum, number.maximum, number.exclusiveMaximum]
                        .compactMap { $0 })
                refusesAll = refusesAll || number.multipleOf != nil
            }
            refusesAll = refusesAll || rules.array?.isUnique == true
            for value in [rules.constant, rules.enumeration].compactMap({ $0 }).flatMap(\.values) {
                addNumbers(of: value)
            }
        }
    }

    private mutating func addNumbers(of value: JSONValue) {
        switch value {
        case .array(let elements): for element in elements { addNumbers(of: element) }
        case .object(let members): for member in members { addNumbers(of: member.value) }
        default: if let number = ExactNumber(value) { marks.insert(number) }
        }
    }

    /// The first such number as it is written, in text that is JSON; nil if there is none.
    func first(in json: String) -> String? {
        var text = json
        return text.withUTF8 { bytes in
            try? JSONScanner.scan(UnsafeRawBufferPointer(bytes), limits: .line) { try first(&$0) }
        }
    }

    private func first(_ scanner: inout JSONScanner) throws -> String? {
        var found: String?
        switch try scanner.peek() {
        case .object:
            try scanner.object { scanner, _ in
                let inner = try first(&scanner)
                found = found ?? inner
            }
        case .array:
            try scanner.array { scanner in
                let inner = try first(&scanner)
                found = found ?? inner
            }
        case .number:
            let literal = String(decoding: try scanner.numberBytes(), as: UTF8.self)
            if isDoubtful(literal) { found = literal }
        case .string, .bool, .null: try scanner.skip()
        }
        return found
    }

    private func isDoubtful(_ literal: String) -> Bool {
        // The schema's own integers of 64 bits are exact, too.
        if Int(literal) != nil { return false }
        guard let double = Double(literal), double.isFinite else { return true }
        let read = ExactNumber(double)
        // A mark of this size was perhaps rounded itself.
        if double.magnitude >= 0x1p63, marks.contains(read) { return true }
        if Self.is(literal, exactly: read) { return false }
        let isFraction = literal.utf8.contains { $0 == UInt8(ascii: ".") || $0 | 0x20 == UInt8(ascii: "e") }
        return refusesAll || marks.contains(read) || isFraction && read.isInteger
    }

    /// Whether a number of JSON's grammar is what was read.
    static func `is`(_ literal: String, exactly read: ExactNumber) -> Bool {
        let parts = literal.split { $0 == "e" || $0 == "E" }
        let places = parts[0].split(separator: ".")
        guard var exponent = parts.count > 1 ? Int(parts[1]) : 0 else { return false }
        if places.count > 1 { exponent -= places[1].utf8.count }
        var digits = Array(places.joined().utf8.drop { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "0") })
        if digits.isEmpty { return read.isZero }
        while digits.last == UInt8(ascii: "0") {
            digits.removeLast()
            exponent += 1
        }
        return UInt64(String(decoding: digits, as: UTF8.self)) == read.significand
            && exponent == read.exponent
    }
}
