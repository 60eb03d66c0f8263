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
        kinds[Self.kind(of: value), default: 0] += 1
        switch value {
        case .null, .bool: values.add(JSONWriter.text(of: value))
        case .int, .number:
            values.add(JSONWriter.text(of: value))
            numbers.add(value.number ?? 0)
            if value.integer == nil { areWhole = false }
        case .string(let text):
            values.add(text)
            lengths.add(Double(text.unicodeScalars.count))
        case .array(let list): lengths.add(Double(list.count))
        case .object: break
        }
    }

    private static func kind(of value: JSONValue) -> String {
        switch value {
        case .null: "null"
        case .bool: "boolean"
        case .int, .number: "number"
        case .string: "text"
        case .array: "list"
        case .object: "object"
        }
    }
}

/// The fields of all results, each by the first that has it.
package struct FieldsOfResults: Sendable {
    /// More are not looked at: an answer may have any.
    private static let limit = 64
    private static let columnLimit = 32

    package private(set) var all: [FieldStatistics] = []
    package private(set) var isCut = false

    /// Those by which a table can be sorted; an answer as a whole has a place there already.
    package var columns: [FieldStatistics] { Array(all.filter { !$0.path.isEmpty }.prefix(Self.columnLimit)) }

    mutating func add(_ fields: [ReportedField]) {
        for (number, field) in fields.enumerated() {
            // Results mostly have the same ones in the same order.
            let isNext = number < all.count && all[number].isOf(field)
            if let place = isNext ? number : all.firstIndex(where: { $0.isOf(field) }) {
                all[place].add(field.value)
            } else if all.count < Self.limit {
                all.append(FieldStatistics(field))
                all[all.count - 1].add(field.value)
            } else {
                isCut = true
            }
        }
    }
}
