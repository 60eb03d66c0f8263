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
        let length = try count("bytes of \(what)", minimumSize: 1)
        let bytes = file.bytes[position..<(position + length)]
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw malformed("\(what) is not valid UTF-8")
        }
        position += length
        return text
    }

    mutating func skipString(_ what: String) throws {
        try skip(try count("bytes of \(what)", minimumSize: 1), what)
    }
}
