/// Decoding and validation of UTF-8 in raw bytes.
package enum UTF8Bytes {
    /// Unit of possibly ill-formed UTF-8.
    package enum Step: Equatable {
        /// One well-formed scalar of this many bytes.
        case valid(Int)
        /// A maximal ill-formed subpart of this many bytes, replaced by one U+FFFD.
        case invalid(Int)
        /// The bytes end within what could become a scalar.
        case incomplete
    }

    /// U+FFFD in UTF-8.
    package static let replacement: [UInt8] = [0xEF, 0xBF, 0xBD]

    /// Examines position `i < bytes.count` (Unicode, table 3-7, "well-formed UTF-8 byte sequences").
    package static func step(_ bytes: UnsafeBufferPointer<UInt8>, at i: Int) -> Step {
        let lead = bytes[i]
        var low: UInt8 = 0x80
        var high: UInt8 = 0xBF
        let length: Int
        switch lead {
        case 0x00...0x7F: return .valid(1)
        case 0xC2...0xDF: length = 2
        case 0xE0...0xEF:
            length = 3
            if lead == 0xE0 { low = 0xA0 }
            if lead == 0xED { high = 0x9F }
        case 0xF0...0xF4:
            length = 4
            if lead == 0xF0 { low = 0x90 }
            if lead == 0xF4 { high = 0x8F }
        default: return .invalid(1)
        }
        for k in 1..<length {
            guard i + k < bytes.count else { return .incomplete }
            guard bytes[i + k] >= low, bytes[i + k] <= high else { return .invalid(k) }
            low = 0x80
            high = 0xBF
        }
        return .valid(length)
    }

    /// Returns the position of the first byte that is not part of well-formed UTF-8.
    package static func firstError(in bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        let raw = UnsafeRawBufferPointer(bytes)
        var i = 0
        while i < bytes.count {
            if i + 8 <= bytes.count,
                raw.loadUnaligned(fromByteOffset: i, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
            {
                i += 8
                continue
            }
            guard case .valid(let length) = step(bytes, at: i) else { return i }
            i += length
        }
        return nil
    }

    package static func areValid(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBufferPointer { firstError(in: $0) == nil }
    }

    /// Returns the number of bytes at the end that begin an incomplete character.
    package static func halfCharacter(atEndOf bytes: [UInt8]) -> Int {
        bytes.withUnsafeBufferPointer { all in
            (1...3).first { length in
                guard length <= all.count, case .incomplete = step(all, at: all.count - length) else {
                    return false
                }
                return true
            } ?? 0
        }
    }

    /// Returns the scalar at `p[i]` of well-formed bytes.
    @inlinable
    @inline(__always)
    package static func decode(_ p: UnsafePointer<UInt8>, _ i: Int) -> (scalar: UInt32, length: Int) {
        let a = UInt32(p[i])
        if a < 0x80 { return (a, 1) }
        let b = UInt32(p[i + 1]) & 0x3F
        if a < 0xE0 { return ((a & 0x1F) << 6 | b, 2) }
        let c = UInt32(p[i + 2]) & 0x3F
        if a < 0xF0 { return ((a & 0x0F) << 12 | b << 6 | c, 3) }
        return ((a & 0x07) << 18 | b << 12 | c << 6 | UInt32(p[i + 3]) & 0x3F, 4)
    }

    /// Returns the beginning of the scalar that ends before `i > start`, in well-formed bytes.
    @inlinable
    @inline(__always)
    package static func previous(_ p: UnsafePointer<UInt8>, _ i: Int, start: Int) -> Int {
        var k = i - 1
        while k > start, p[k] & 0xC0 == 0x80 { k -= 1 }
        return k
    }
}

/// Turns bytes that arrive in pieces into well-formed UTF-8, with U+FFFD for each maximal ill-formed subpart; holds
/// back a tail that may become a character.
package struct UTF8Repair: Sendable {
    private var tail: [UInt8] = []

    package init() {}

    /// Appends the text that is certain after these bytes.
    package mutating func feed(_ bytes: [UInt8], into output: inout [UInt8]) {
        let all = tail.isEmpty ? bytes : tail + bytes
        let end = all.count - UTF8Bytes.halfCharacter(atEndOf: all)
        output += String(decoding: all[..<end], as: UTF8.self).utf8
        tail = Array(all[end...])
    }

    /// Replaces an incomplete character at the end by one U+FFFD.
    package mutating func finish(into output: inout [UInt8]) {
        if !tail.isEmpty { output.append(contentsOf: UTF8Bytes.replacement) }
        tail.removeAll()
    }
}
