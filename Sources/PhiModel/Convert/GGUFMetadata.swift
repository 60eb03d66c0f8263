/// Typed and range-checked access to a GGUF file's metadata; every error names the key.
struct GGUFMetadata {
    let path: String
    let values: [String: GGUFValue]

    func fault(_ kind: ModelError.Kind, _ key: String, _ message: String) -> ModelError {
        ModelError(kind, path: path, "metadata \"\(key)\" \(message).")
    }

    func optionalInteger(_ key: String, _ range: ClosedRange<Int>) throws -> Int? {
        guard let value = values[key] else { return nil }
        guard let number = try value.integer(), range.contains(number) else {
            throw fault(
                .malformed, key, "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    func integer(_ key: String, _ range: ClosedRange<Int>) throws -> Int {
        guard let number = try optionalInteger(key, range) else { throw fault(.malformed, key, "is missing") }
        return number
    }

    func optionalFloat(_ key: String, _ range: ClosedRange<Float>) throws -> Float? {
        guard let value = values[key] else { return nil }
        guard let number = try value.float(), range.contains(number) else {
            throw fault(.malformed, key, "must be a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    func optionalBool(_ key: String) throws -> Bool? {
        guard let value = values[key] else { return nil }
        guard let flag = try value.bool() else { throw fault(.malformed, key, "must be a boolean") }
        return flag
    }

    func optionalString(_ key: String) throws -> String? {
        guard let value = values[key] else { return nil }
        guard let text = try value.string() else { throw fault(.malformed, key, "must be a string") }
        return text
    }

    func strings(_ key: String, maximumCount: Int) throws -> [String] {
        guard let value = values[key] else { throw fault(.malformed, key, "is missing") }
        guard let strings = try value.strings(maximumCount: maximumCount) else {
            throw fault(.malformed, key, "must be a list of at most \(maximumCount) strings")
        }
        return strings
    }

    func integers(_ key: String, count: Int) throws -> [Int] {
        guard let value = values[key] else { throw fault(.malformed, key, "is missing") }
        guard let integers = try value.integers(maximumCount: count), integers.count == count else {
            throw fault(.malformed, key, "must be a list of \(count) whole numbers")
        }
        return integers
    }

    /// - Throws: also if one is not finite.
    func floats(_ key: String, count: Int) throws -> [Float] {
        guard let value = values[key] else { throw fault(.malformed, key, "is missing") }
        guard let floats = try value.floats(maximumCount: count), floats.count == count,
            floats.allSatisfy(\.isFinite)
        else { throw fault(.malformed, key, "must be a list of \(count) numbers") }
        return floats
    }
}
