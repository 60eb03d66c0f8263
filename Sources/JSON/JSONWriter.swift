import FoundationShim

/// Writes JSON in one line, with members in the order of the calls: the same values give the same bytes.
package struct JSONWriter {
    package private(set) var bytes: [UInt8] = []
    private var needsComma = false

    package init() {}

    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Writes a whole document that is an object.
    package static func object(_ body: (inout JSONWriter) -> Void) -> JSONWriter {
        var writer = JSONWriter()
        writer.object(body)
        return writer
    }

    /// Writes a whole document that is an array.
    package static func array(_ body: (inout JSONWriter) -> Void) -> JSONWriter {
        var writer = JSONWriter()
        writer.array(body)
        return writer
    }

    package mutating func object(_ body: (inout JSONWriter) -> Void) {
        enclosed(UInt8(ascii: "{"), UInt8(ascii: "}"), body)
    }

    package mutating func array(_ body: (inout JSONWriter) -> Void) {
        enclosed(UInt8(ascii: "["), UInt8(ascii: "]"), body)
    }

    private mutating func enclosed(_ open: UInt8, _ close: UInt8, _ body: (inout JSONWriter) -> Void) {
        comma()
        bytes.append(open)
        needsComma = false
        body(&self)
        bytes.append(close)
        needsComma = true
    }

    /// Writes a member's name; its value must follow.
    package mutating func key(_ name: String) {
        string(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    package mutating func int<Number: BinaryInteger>(_ value: Number) { raw(String(value)) }

    /// Writes a string of sixteen lower-case hexadecimal digits.
    package mutating func hex(_ value: UInt64) {
        comma()
        bytes.append(UInt8(ascii: "\""))
        JSONBytes.appendHex(value, to: &bytes)
        bytes.append(UInt8(ascii: "\""))
        needsComma = true
    }

    package mutating func bool(_ value: Bool) { raw(value ? "true" : "false") }

    package mutating func null() { raw("null") }

    /// Writes the shortest text that reads back as the same number. Infinities and NaN become null.
    package mutating func number(_ value: Double) {
        value.isFinite ? raw(Self.plain(value.description)) : null()
    }

    package mutating func number(_ value: Float) {
        value.isFinite ? raw(Self.plain(value.description)) : null()
    }

    /// Writes encoded JSON.
    package mutating func raw(_ json: String) {
        comma()
        bytes.append(contentsOf: json.utf8)
        needsComma = true
    }

    /// Writes any value, without white space.
    package mutating func value(_ value: JSONValue) {
        switch value {
        case .null: null()
        case .bool(let value): bool(value)
        case .int(let value): int(value)
        case .number(let number): raw(number.text)
        case .string(let text): string(text)
        case .array(let values): array { writer in for value in values { writer.value(value) } }
        case .object(let members): object { $0.members(members) }
        }
    }

    /// Returns a list of strings.
    package static func list(_ texts: [String]) -> String { text(of: .array(texts.map { .string($0) })) }

    package static func text(of value: JSONValue) -> String {
        var writer = JSONWriter()
        writer.value(value)
        return writer.text
    }

    package mutating func string(_ value: String) {
        comma()
        JSONBytes.append(value, to: &bytes)
        needsComma = true
    }

    // MARK: Members

    package mutating func object(_ name: String, _ body: (inout JSONWriter) -> Void) {
        key(name)
        object(body)
    }

    package mutating func array(_ name: String, _ body: (inout JSONWriter) -> Void) {
        key(name)
        array(body)
    }

    /// Writes a member that is an array, with an element for each value.
    package mutating func array<Values: Sequence>(
        _ name: String, _ values: Values, _ write: (inout JSONWriter, Values.Element) -> Void
    ) {
        array(name) { writer in for value in values { write(&writer, value) } }
    }

    /// Writes a member that is an array of objects, one for each value.
    package mutating func objects<Values: Sequence>(
        _ name: String, _ values: Values, _ write: (inout JSONWriter, Values.Element) -> Void
    ) {
        array(name, values) { writer, value in writer.object { write(&$0, value) } }
    }

    /// Writes a member that is null without a value.
    package mutating func optional<Value>(
        _ name: String, _ value: Value?, _ write: (inout JSONWriter, Value) -> Void
    ) {
        key(name)
        if let value { write(&self, value) } else { null() }
    }

    package mutating func value(_ name: String, _ value: JSONValue) {
        key(name)
        self.value(value)
    }

    package mutating func members(_ members: some Sequence<JSONMember>) {
        for member in members { value(member.name, member.value) }
    }

    package mutating func string(_ name: String, _ value: String) {
        key(name)
        string(value)
    }

    package mutating func int(_ name: String, _ value: some BinaryInteger) {
        key(name)
        int(value)
    }

    package mutating func number(_ name: String, _ value: Double) {
        key(name)
        number(value)
    }

    package mutating func number(_ name: String, _ value: Float) {
        key(name)
        number(value)
    }

    package mutating func bool(_ name: String, _ value: Bool) {
        key(name)
        bool(value)
    }

    package mutating func null(_ name: String) {
        key(name)
        null()
    }

    package mutating func raw(_ name: String, _ json: String) {
        key(name)
        raw(json)
    }

    package mutating func hex(_ name: String, _ value: UInt64) {
        key(name)
        hex(value)
    }

    private mutating func comma() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
    }

    fileprivate static func plain(_ description: String) -> String {
        description.hasSuffix(".0") ? String(description.dropLast(2)) : description
    }
}

extension JSONValue {
    /// Returns a number as `JSONWriter` writes it and a scanner reads it; null for infinities and NaN.
    package static func plain(_ value: some BinaryFloatingPoint & CustomStringConvertible) -> JSONValue {
        guard value.isFinite else { return .null }
        let text = JSONWriter.plain(value.description)
        if let integer = Int(text), text != "-0" { return .int(integer) }
        return .number(JSONNumber(text: text))
    }
}
