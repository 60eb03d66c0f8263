import JSON
import OperatingSystem

/// Reads the fields of a GGUF file one after another; no read passes the end, no count is trusted.
struct GGUFCursor {
    let file: MappedFile
    private(set) var position = 0

    var remaining: Int { file.count - position }

    func malformed(_ message: String) -> UserError {
        UserError(.malformed, at: file.path, message + " (at byte \(position)).")
    }

    mutating func integer<T: FixedWidthInteger & BitwiseCopyable>(_ type: T.Type, _ what: String) throws -> T
    {
        guard remaining >= MemoryLayout<T>.size else { throw malformed("the file ends within \(what)") }
        defer { position += MemoryLayout<T>.size }
        return T(littleEndian: file.bytes.loadUnaligned(fromByteOffset: position, as: type))
    }

    /// A count of things that each take at least `minimumSize` bytes of what is left.
    mutating func count(_ what: String, minimumSize: Int) throws -> Int {
        let stated = try integer(UInt64.self, "the number of \(what)")
        guard stated <= UInt64(remaining / minimumSize) else {
            throw malformed("\(stated) \(what) are stated, more than the rest of the file can hold")
        }
        return Int(stated)
    }

    mutating func skip(_ count: Int, _ what: String) throws {
        guard count >= 0, count <= remaining else { throw malformed("the file ends within \(what)") }
        position += count
    }

    mutating func string(_ what: String) throws -> String {
        guard let text = try validString(what) else { throw malformed("\(what) is not valid UTF-8") }
        return text
    }

    /// Returns nil for what is not UTF-8.
    private mutating func validString(_ what: String) throws -> String? {
        let length = try count("bytes of \(what)", minimumSize: 1)
        defer { position += length }
        return String(validating: file.bytes[position..<(position + length)], as: UTF8.self)
    }

    // MARK: Metadata

    /// Types of values by their number in the file.
    private enum ValueType: UInt32 {
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

    /// Elements of a list. A longer one is null, as are lists of lists and of numbers of less than 32 bits.
    private static let listLimit = 1 << 23

    /// Reads a value of the metadata, after its type.
    mutating func value() throws -> JSONValue { try value(valueType()) }

    private mutating func valueType() throws -> ValueType {
        let number = try integer(UInt32.self, "a value type")
        guard let type = ValueType(rawValue: number) else {
            throw malformed("value type \(number) is not known")
        }
        return type
    }

    private mutating func value(_ type: ValueType) throws -> JSONValue {
        let what = "a value"
        switch type {
        case .uint8: return .int(Int(try integer(UInt8.self, what)))
        case .int8: return .int(Int(try integer(Int8.self, what)))
        case .uint16: return .int(Int(try integer(UInt16.self, what)))
        case .int16: return .int(Int(try integer(Int16.self, what)))
        case .uint32: return .int(Int(try integer(UInt32.self, what)))
        case .int32: return .int(Int(try integer(Int32.self, what)))
        case .int64: return .int(Int(try integer(Int64.self, what)))
        case .uint64:
            let number = try integer(UInt64.self, what)
            return Int(exactly: number).map { .int($0) } ?? .double(Double(number))
        case .float32: return Self.number(Double(Float(bitPattern: try integer(UInt32.self, what))))
        case .float64: return Self.number(Double(bitPattern: try integer(UInt64.self, what)))
        case .bool: return .bool(try integer(UInt8.self, what) != 0)
        case .string: return .string(try string("a string"))
        case .array: return try list()
        }
    }

    /// JSON has no NaN: as text it is refused where a number is needed.
    private static func number(_ value: Double) -> JSONValue {
        value.isFinite ? .double(value) : .string("\(value)")
    }

    private mutating func list(depth: Int = 0) throws -> JSONValue {
        guard depth < 4 else { throw malformed("arrays are nested too deeply") }
        let element = try valueType()
        let count = try count("array elements", minimumSize: element.minimumSize)
        if element == .array {
            for _ in 0..<count { _ = try list(depth: depth + 1) }
            return .null
        }
        if count > Self.listLimit || element.minimumSize < 4 {
            for _ in 0..<count where element == .string {
                try skip(self.count("bytes of a string", minimumSize: 1), "a string")
            }
            if element != .string { try skip(count * element.minimumSize, "an array") }  // Within the file.
            return .null
        }
        return .array(
            try (0..<count).map { _ in
                element == .string
                    ? try validString("a string").map { .string($0) } ?? .null : try value(element)
            })
    }
}
