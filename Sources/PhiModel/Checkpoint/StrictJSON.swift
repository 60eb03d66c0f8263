/// A JSON document, read strictly: RFC 8259 and nothing else, no key twice in an object, bounded depth
/// and size. Model folders are foreign input; a key given twice means that two readers would see two models.
///
/// Keys count as equal when Swift's strings do, that is up to Unicode normalization.
enum StrictJSON: Sendable, Equatable {
    case null
    case bool(Bool)
    /// A number written without fraction and exponent that fits.
    case integer(Int)
    case real(Double)
    case string(String)
    case array([StrictJSON])
    case object([String: StrictJSON])

    /// Depth of nesting that is still read. Real model files stay below ten.
    static let maximumDepth = 64
    /// Values in one document. A value takes tens of bytes in memory whatever it takes in the file.
    static let maximumValues = 4_000_000

    /// What is wrong and at which byte.
    struct Fault: Error {
        let offset: Int
        let message: String
    }

    init(parsing bytes: UnsafeRawBufferPointer) throws(Fault) {
        var parser = StrictJSONParser(bytes: bytes)
        self = try parser.document()
    }

    init(parsing bytes: [UInt8]) throws(Fault) {
        self = try bytes.withUnsafeBytes { raw in
            Result { () throws(Fault) in try StrictJSON(parsing: raw) }
        }.get()
    }

    /// For messages: what kind of value this is.
    var kindName: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .integer: "an integer"
        case .real: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }

    /// Reads a whole file as one JSON object.
    /// - Throws: `ModelError`: `missing`, or `malformed` with the byte at fault.
    static func object(inFile path: String, maximumBytes: Int) throws -> [String: StrictJSON] {
        let file = try MappedFile(path: path)
        guard file.count <= maximumBytes else {
            throw ModelError(
                .malformed, path: path, "is \(file.count) bytes long; at most \(maximumBytes) are read.")
        }
        // A copy: a small file may well be rewritten in place while it is read.
        let copy = file.withBytes { [UInt8]($0) }
        do throws(Fault) {
            let value = try StrictJSON(parsing: copy)
            guard case .object(let members) = value else {
                throw Fault(offset: 0, message: "the document is \(value.kindName), not an object")
            }
            return members
        } catch {
            throw ModelError(
                .malformed, path: path, "not valid JSON at byte \(error.offset): \(error.message).")
        }
    }
}
