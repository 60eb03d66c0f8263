/// A metadata value of a GGUF file. Arrays and strings stay in the file until they are asked for, so that
/// a file costs no more memory than what is used of it.
struct GGUFValue {
    /// Value types by their number in the file.
    enum Kind: UInt32 {
        case uint8 = 0
        case int8, uint16, int16, uint32, int32, float32, bool, string, array, uint64, int64, float64

        /// Bytes of one value; for strings and arrays the least.
        var minimumSize: Int {
            switch self {
            case .uint8, .int8, .bool: 1
            case .uint16, .int16: 2
            case .uint32, .int32, .float32: 4
            case .uint64, .int64, .float64, .string: 8
            case .array: 12
            }
        }
    }

    private static let maximumArrayDepth = 4

    let kind: Kind
    /// Place where the value begins.
    let start: GGUFCursor

    /// Steps over a value, checking that all of it is there.
    init(_ cursor: inout GGUFCursor, kind: Kind, depth: Int = 0) throws {
        self.kind = kind
        start = cursor
        switch kind {
        case .string: try cursor.skipString("a string")
        case .array:
            guard depth < Self.maximumArrayDepth else {
                throw cursor.malformed("arrays are nested too deeply")
            }
            let (element, count) = try Self.arrayHeader(&cursor)
            if element == .string {
                for _ in 0..<count { try cursor.skipString("a string") }
            } else if element == .array {
                for _ in 0..<count { _ = try GGUFValue(&cursor, kind: .array, depth: depth + 1) }
            } else {
                try cursor.skip(count * element.minimumSize, "an array")  // Bounded by the file's size.
            }
        default: try cursor.skip(kind.minimumSize, "a value")
        }
    }

    static func kind(_ cursor: inout GGUFCursor) throws -> Kind {
        let number = try cursor.integer(UInt32.self, "a value type")
        guard let kind = Kind(rawValue: number) else {
            throw cursor.malformed("value type \(number) is not known")
        }
        return kind
    }

    private static func arrayHeader(_ cursor: inout GGUFCursor) throws -> (element: Kind, count: Int) {
        let element = try kind(&cursor)
        return (element, try cursor.count("array elements", minimumSize: element.minimumSize))
    }

    /// A whole number of any width; nil for other types and for numbers beyond Int.
    func integer() throws -> Int? { try Self.integer(start, kind) }

    private static func integer(_ start: GGUFCursor, _ kind: Kind) throws -> Int? {
        var cursor = start
        switch kind {
        case .uint8: return Int(try cursor.integer(UInt8.self, "a value"))
        case .int8: return Int(try cursor.integer(Int8.self, "a value"))
        case .uint16: return Int(try cursor.integer(UInt16.self, "a value"))
        case .int16: return Int(try cursor.integer(Int16.self, "a value"))
        case .uint32: return Int(try cursor.integer(UInt32.self, "a value"))
        case .int32: return Int(try cursor.integer(Int32.self, "a value"))
        case .uint64: return Int(exactly: try cursor.integer(UInt64.self, "a value"))
        case .int64: return Int(try cursor.integer(Int64.self, "a value"))
        case .float32, .float64, .bool, .string, .array: return nil
        }
    }

    /// A float32 as it is, a float64 rounded; nil for other types.
    func float() throws -> Float? {
        var cursor = start
        switch kind {
        case .float32: return Float(bitPattern: try cursor.integer(UInt32.self, "a value"))
        case .float64: return Float(Double(bitPattern: try cursor.integer(UInt64.self, "a value")))
        default: return nil
        }
    }

    func bool() throws -> Bool? {
        guard kind == .bool else { return nil }
        var cursor = start
        return try cursor.integer(UInt8.self, "a value") != 0
    }

    func string() throws -> String? {
        guard kind == .string else { return nil }
        var cursor = start
        return try cursor.string("a string")
    }

    func strings(maximumCount: Int) throws -> [String]? {
        guard kind == .array else { return nil }
        var cursor = start
        let (element, count) = try Self.arrayHeader(&cursor)
        guard element == .string, count <= maximumCount else { return nil }
        var strings: [String] = []
        strings.reserveCapacity(count)
        for _ in 0..<count { strings.append(try cursor.string("a string")) }
        return strings
    }

    func integers(maximumCount: Int) throws -> [Int]? {
        guard kind == .array else { return nil }
        var cursor = start
        let (element, count) = try Self.arrayHeader(&cursor)
        guard count <= maximumCount else { return nil }
        var integers: [Int] = []
        integers.reserveCapacity(count)
        for _ in 0..<count {
            guard let value = try Self.integer(cursor, element) else { return nil }
            integers.append(value)
            try cursor.skip(element.minimumSize, "an array")
        }
        return integers
    }

    /// Single-precision numbers.
    func floats(maximumCount: Int) throws -> [Float]? {
        guard kind == .array else { return nil }
        var cursor = start
        let (element, count) = try Self.arrayHeader(&cursor)
        guard element == .float32, count <= maximumCount else { return nil }
        return try (0..<count).map { _ in Float(bitPattern: try cursor.integer(UInt32.self, "an array")) }
    }
}
