import FoundationShim

extension UnsafeRawBufferPointer {
    /// Returns the offset of the first `byte`, or nil.
    func offset(of byte: UInt8) -> Int? {
        guard let start = baseAddress, let hit = memchr(start, Int32(byte), count) else { return nil }
        return UnsafeRawPointer(hit) - start
    }

    func equals(_ other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        guard let first = baseAddress, let second = other.baseAddress else { return true }
        return memcmp(first, second, count) == 0
    }
}

extension StaticString {
    /// Returns the offset of this text's first occurrence. The search uses the character at `anchor`, which should be
    /// rare.
    func firstOffset(in bytes: UnsafeRawBufferPointer, from start: Int = 0, anchor: Int = 0) -> Int? {
        let sought = UnsafeRawBufferPointer(start: utf8Start, count: utf8CodeUnitCount)
        var position = start + anchor
        while position < bytes.count,
            let hit = UnsafeRawBufferPointer(rebasing: bytes[position...]).offset(of: sought[anchor])
        {
            let first = position + hit - anchor
            if first + sought.count > bytes.count { return nil }
            if UnsafeRawBufferPointer(rebasing: bytes[first..<first + sought.count]).equals(sought) {
                return first
            }
            position += hit + 1
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
        guard bytes.count - position >= count else { return false }
        let expected = UnsafeRawBufferPointer(start: text.utf8Start, count: count)
        guard UnsafeRawBufferPointer(rebasing: bytes[position..<position + count]).equals(expected) else {
            return false
        }
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
