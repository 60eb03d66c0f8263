import FoundationShim

extension UnsafeRawBufferPointer {
    /// Returns the offset of the first `byte`, or nil.
    func offset(of byte: UInt8) -> Int? {
        guard let start = baseAddress, let hit = memchr(start, Int32(byte), count) else { return nil }
        return UnsafeRawPointer(hit) - start
    }
}

extension StaticString {
    /// Returns the offset of this text's first occurrence.
    func firstOffset(in bytes: UnsafeRawBufferPointer, from start: Int = 0) -> Int? {
        var cursor = ByteCursor(bytes: bytes, position: start)
        while cursor.position < bytes.count,
            let hit = UnsafeRawBufferPointer(rebasing: bytes[cursor.position...]).offset(of: utf8Start[0])
        {
            let found = cursor.position + hit
            cursor.position = found
            if cursor.skip(self) { return found }
            cursor.position = found + 1
        }
        return nil
    }
}

/// Parses untrusted bytes with an expected structure. Each method returns nil (or false) on a mismatch, and leaves
/// `position` anywhere.
struct ByteCursor {
    let bytes: UnsafeRawBufferPointer
    var position = 0

    mutating func skip(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard bytes.count - position >= count, let base = bytes.baseAddress,
            memcmp(base + position, text.utf8Start, count) == 0
        else { return false }
        position += count
        return true
    }

    mutating func hex() -> UInt64? {
        guard bytes.count - position >= 16 else { return nil }
        var value: UInt64 = 0
        for index in position..<position + 16 {
            let byte = bytes[index]
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | UInt64(byte - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"):
                value = value << 4 | UInt64(byte - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
        position += 16
        return value
    }
}
