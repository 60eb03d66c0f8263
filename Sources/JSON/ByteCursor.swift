import FoundationShim

/// Parses untrusted bytes with an expected structure. Each method returns nil (or false) on a mismatch, and leaves
/// `position` anywhere.
package struct ByteCursor {
    package let bytes: UnsafeRawBufferPointer
    package private(set) var position = 0

    package init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    package mutating func skip(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard bytes.count - position >= count, let base = bytes.baseAddress,
            memcmp(base + position, text.utf8Start, count) == 0
        else { return false }
        position += count
        return true
    }

    package mutating func hex() -> UInt64? {
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
