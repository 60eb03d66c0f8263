import PhiModel

/// A line's fields are template values; here is what reading them needs.
extension TemplateValue {
    /// The value of an object's member; nil if there is none or this is no object. Names are compared by
    /// their bytes, not by canonical equivalence.
    subscript(_ name: StaticString) -> TemplateValue? {
        guard case .object(let members) = self else { return nil }
        return name.withUTF8Buffer { name in members.first { $0.name.utf8.elementsEqual(name) }?.value }
    }

    /// What an error calls it.
    var kindName: String {
        switch self {
        case .null: return "null"
        case .bool: return "a boolean"
        case .int, .double: return "a number"
        case .string: return "a string"
        case .array: return "a list"
        case .object: return "an object"
        }
    }
}
