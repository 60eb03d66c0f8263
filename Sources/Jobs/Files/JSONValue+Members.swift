import JSON

/// Members of a known kind; nil if there is none of that name, or it is of another kind.
extension JSONValue {
    package func int(_ name: String) -> Int? {
        guard case .int(let value)? = self[name] else { return nil }
        return value
    }

    package func string(_ name: String) -> String? {
        guard case .string(let value)? = self[name] else { return nil }
        return value
    }

    package func number(_ name: String) -> Double? { self[name]?.number }
}
