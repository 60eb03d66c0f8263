/// A metadata value of a GGUF file. Arrays and strings stay in the file until they are asked for, so that
/// a file costs no more memory than what is used of it.
struct GGUFValue {
    /// Value types by their number in the file.
    enum ValueType: UInt32 {
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

    let kind: ValueType
    /// Place where the value begins.
    let start: GGUFCursor

    /// Steps over a value, checking that all of it is there.
    init(_ cursor: inout GGUFCursor, kind: ValueType, depth: Int = 0) throws {
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

    static func kind(_ cursor: inout GGUFCursor) throws -> ValueType {
        let number = try cursor.integer(UInt32.self, "a value type")
        guard let kind = ValueType(rawValue: number) else {
            throw cursor.malformed("value type \(number) is not known")
        }
        return kind
    }

    private static func arrayHeader(_ cursor: inout GGUFCursor) throws -> (element: ValueType, count: Int) {
        let element = try kind(&cursor)
        return (element, try cursor.count("array elements", minimumSize: element.minimumSize))
    }

    /// A whole number of any width; nil for other types and for numbers beyond Int.
    func integer() throws -> Int? { try read(Self.integer) }

    private static func integer(_ cursor: inout GGUFCursor, _ kind: ValueType) throws -> Int? {
        switch kind {
        case .uint8: Int(try cursor.integer(UInt8.self, "a value"))
        case .int8: Int(try cursor.integer(Int8.self, "a value"))
        case .uint16: Int(try cursor.integer(UInt16.self, "a value"))
        case .int16: Int(try cursor.integer(Int16.self, "a value"))
        case .uint32: Int(try cursor.integer(UInt32.self, "a value"))
        case .int32: Int(try cursor.integer(Int32.self, "a value"))
        case .uint64: Int(exactly: try cursor.integer(UInt64.self, "a value"))
        case .int64: Int(exactly: try cursor.integer(Int64.self, "a value"))
        case .float32, .float64, .bool, .string, .array: nil
        }
    }

    /// A float32 as it is, a float64 rounded; nil for other types.
    func float() throws -> Float? { try read(Self.float) }

    private static func float(_ cursor: inout GGUFCursor, _ kind: ValueType) throws -> Float? {
        switch kind {
        case .float32: Float(bitPattern: try cursor.integer(UInt32.self, "a value"))
        case .float64: Float(Double(bitPattern: try cursor.integer(UInt64.self, "a value")))
        default: nil
        }
    }

    func bool() throws -> Bool? {
        try read { $1 == .bool ? try $0.integer(UInt8.self, "a value") != 0 : nil }
    }

    func string() throws -> String? { try read(Self.string) }

    private static func string(_ cursor: inout GGUFCursor, _ kind: ValueType) throws -> String? {
        kind == .string ? try cursor.string("a string") : nil
    }

    func strings(maximumCount: Int) throws -> [String]? { try elements(maximumCount, Self.string) }

    func integers(maximumCount: Int) throws -> [Int]? { try elements(maximumCount, Self.integer) }

    func floats(maximumCount: Int) throws -> [Float]? { try elements(maximumCount, Self.float) }

    /// Reads a value of a type; nil for other types.
    private typealias Read<Value> = (inout GGUFCursor, ValueType) throws -> Value?

    private func read<Value>(_ read: Read<Value>) throws -> Value? {
        var cursor = start
        return try read(&cursor, kind)
    }

    /// The values of an array, if they are no more than that and all of them can be read.
    private func elements<Value>(_ maximumCount: Int, _ read: Read<Value>) throws -> [Value]? {
        guard kind == .array else { return nil }
        var cursor = start
        let (element, count) = try Self.arrayHeader(&cursor)
        guard count <= maximumCount else { return nil }
        var values: [Value] = []
        values.reserveCapacity(count)
        for _ in 0..<count {
            guard let value = try read(&cursor, element) else { return nil }
            values.append(value)
        }
        return values
    }
}
