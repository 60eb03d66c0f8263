/// Typed and range-checked access to a GGUF file's metadata; every error names the key.
struct GGUFMetadata {
    let path: String
    let values: [String: GGUFValue]

    func fault(_ kind: UserError.Kind, _ key: String, _ message: String) -> UserError {
        UserError(kind, at: path, "metadata \"\(key)\" \(message).")
    }

    private func optional<Value>(
        _ key: String, _ what: String, _ read: (GGUFValue) throws -> Value?
    ) throws -> Value? {
        guard let value = values[key] else { return nil }
        guard let read = try read(value) else { throw fault(.malformed, key, "must be \(what)") }
        return read
    }

    private func required<Value>(_ key: String, _ value: Value?) throws -> Value {
        guard let value else { throw fault(.malformed, key, "is missing") }
        return value
    }

    func optionalInteger(_ key: String, _ range: ClosedRange<Int>) throws -> Int? {
        try optional(key, "a whole number from \(range.lowerBound) to \(range.upperBound)") {
            try $0.integer().flatMap { range.contains($0) ? $0 : nil }
        }
    }

    func integer(_ key: String, _ range: ClosedRange<Int>) throws -> Int {
        try required(key, optionalInteger(key, range))
    }

    func optionalFloat(_ key: String, _ range: ClosedRange<Float>) throws -> Float? {
        try optional(key, "a number from \(range.lowerBound) to \(range.upperBound)") {
            try $0.float().flatMap { range.contains($0) ? $0 : nil }
        }
    }

    func optionalBool(_ key: String) throws -> Bool? { try optional(key, "a boolean") { try $0.bool() } }

    func optionalString(_ key: String) throws -> String? { try optional(key, "a string") { try $0.string() } }

    func strings(_ key: String, maximumCount: Int) throws -> [String] {
        try required(
            key,
            optional(key, "a list of at most \(maximumCount) strings") {
                try $0.strings(maximumCount: maximumCount)
            })
    }

    func integers(_ key: String, count: Int) throws -> [Int] {
        try required(
            key,
            optional(key, "a list of \(count) whole numbers") {
                try $0.integers(maximumCount: count).flatMap { $0.count == count ? $0 : nil }
            })
    }

    /// - Throws: also if one is not finite.
    func floats(_ key: String, count: Int) throws -> [Float] {
        try required(
            key,
            optional(key, "a list of \(count) numbers") {
                try $0.floats(maximumCount: count).flatMap {
                    $0.count == count && $0.allSatisfy(\.isFinite) ? $0 : nil
                }
            })
    }
}
