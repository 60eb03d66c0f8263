import JSON

/// Statistics of one field's values in all results, in constant memory.
package struct FieldStatistics: Sendable {
    package let path: [String]
    package let isOfLine: Bool
    package private(set) var count = 0
    /// Names of the values' kinds, in order of appearance.
    package private(set) var kinds: [String] = []
    /// The most common texts, numbers, booleans and nulls.
    package private(set) var values = CommonValues()
    package private(set) var numbers = Distribution(isSigned: true)
    package private(set) var areWhole = true
    /// Characters of texts, and elements of lists.
    package private(set) var lengths = Distribution()

    init(_ field: ReportedField) { (path, isOfLine) = (field.path, field.isOfLine) }

    package func isOf(_ field: ReportedField) -> Bool { field.isOfLine == isOfLine && field.path == path }

    mutating func add(_ value: JSONValue) {
        count += 1
        switch value {
        case .null: add(JSONWriter.text(of: value), "null")
        case .bool: add(JSONWriter.text(of: value), "boolean")
        case .int, .number:
            add(JSONWriter.text(of: value), "number")
            numbers.add(value.number ?? 0)
            if value.integer == nil { areWhole = false }
        case .string(let text): add(text, "text", length: text.unicodeScalars.count)
        case .array(let list): add(nil, "list", length: list.count)
        case .object: add(nil, "object")
        }
    }

    private mutating func add(_ value: String?, _ kind: String, length: Int? = nil) {
        if !kinds.contains(kind) { kinds.append(kind) }
        if let value { values.add(value) }
        if let length { lengths.add(Double(length)) }
    }
}

/// The fields of all results, in order of appearance.
package struct FieldsOfResults: Sendable {
    /// At most 64: an answer may have any.
    package private(set) var all: [FieldStatistics] = []
    package private(set) var isCut = false

    mutating func add(_ fields: [ReportedField]) {
        for (number, field) in fields.enumerated() {
            // Most results have the same ones in the same order.
            let isNext = number < all.count && all[number].isOf(field)
            if let place = isNext ? number : all.firstIndex(where: { $0.isOf(field) }) {
                all[place].add(field.value)
            } else if all.count < 64 {
                all.append(FieldStatistics(field))
                all[all.count - 1].add(field.value)
            } else {
                isCut = true
            }
        }
    }
}
