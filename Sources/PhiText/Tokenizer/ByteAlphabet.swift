/// Alphabet of byte-level BPE: one printable character for each byte, so that token texts are text. Printable Latin-1
/// bytes are themselves; the other 68 are U+0100 and up, in order (introduced by GPT-2).
enum ByteAlphabet {
    /// Character of each byte.
    static let scalars: [UInt32] = {
        var next: UInt32 = 0x100
        return (0..<256).map { (byte: UInt32) -> UInt32 in
            switch byte {
            case 0x21...0x7E, 0xA1...0xAC, 0xAE...0xFF: return byte
            default:
                defer { next += 1 }
                return next
            }
        }
    }()

    /// Byte of each character below U+0144, or -1.
    static let bytes: [Int16] = {
        var table = [Int16](repeating: -1, count: 0x144)
        for (byte, scalar) in scalars.enumerated() { table[Int(scalar)] = Int16(byte) }
        return table
    }()

    /// Returns the UTF-8 of a byte's character.
    static func encode(_ byte: UInt8) -> [UInt8] {
        let scalar = scalars[Int(byte)]
        return scalar < 0x80 ? [UInt8(scalar)] : [UInt8(0xC0 | scalar >> 6), UInt8(0x80 | scalar & 0x3F)]
    }

    /// Returns the bytes of a token's text; the text itself if any character is not in the alphabet.
    static func decode(_ text: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        for scalar in String(decoding: text, as: UTF8.self).unicodeScalars {
            guard scalar.value < bytes.count, bytes[Int(scalar.value)] >= 0 else { return text }
            result.append(UInt8(bytes[Int(scalar.value)]))
        }
        return result
    }
}
