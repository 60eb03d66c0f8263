import JSON

/// What one field's values are in all results: counts, and not the values, so that memory does not grow with them.
package struct FieldStatistics: Sendable {
    package static let exactLimit = 4096
    package let path: [String]
    package let origin: ReportedField.Origin
    package private(set) var count = 0
    /// How many values there are of each kind, by a word for it.
    package private(set) var kinds: [String: Int] = [:]
    /// The most common texts, numbers, booleans and nulls.
    package private(set) var values = CommonValues()
    package private(set) var numbers = Distribution(exactLimit: Self.exactLimit, isSigned: true)
    package private(set) var areWhole = true
    /// Characters of texts, and elements of lists.
    package private(set) var lengths = Distribution(exactLimit: Self.exactLimit)

    init(_ field: ReportedField) { (path, origin) = (field.path, field.origin) }

    package func isOf(_ field: ReportedField) -> Bool { field.origin == origin && field.path == path }

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
        kinds[kind, default: 0] += 1
        if let value { values.add(value) }
        if let length { lengths.add(Double(length)) }
    }
}

/// The fields of all results, each by the first that has it.
package struct FieldsOfResults: Sendable {
    /// At most 64: an answer may have any.
    package private(set) var all: [FieldStatistics] = []
    package private(set) var isCut = false

    /// Those by which a table can be sorted; an answer as a whole has a place there already.
    package var columns: [FieldStatistics] { Array(all.filter { !$0.path.isEmpty }.prefix(32)) }

    mutating func add(_ fields: [ReportedField]) {
        for (number, field) in fields.enumerated() {
            // Results mostly have the same ones in the same order.
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
