/// CRC-64/XZ (ECMA-182, reflected; the check value of "123456789" is 995dc9bbdf1939fa), eight bytes
/// at a time.
package enum Checksum {
    /// - Parameter before: checksum of the preceding bytes, to continue.
    package static func crc64(_ bytes: UnsafeRawBufferPointer, after before: UInt64 = 0) -> UInt64 {
        table.withUnsafeBufferPointer { table in
            var crc = ~before
            var index = 0
            while index + 8 <= bytes.count {
                let word =
                    crc ^ UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
                crc =
                    table[7 << 8 | Int(word & 0xff)] ^ table[6 << 8 | Int(word >> 8 & 0xff)]
                    ^ table[5 << 8 | Int(word >> 16 & 0xff)] ^ table[4 << 8 | Int(word >> 24 & 0xff)]
                    ^ table[3 << 8 | Int(word >> 32 & 0xff)] ^ table[2 << 8 | Int(word >> 40 & 0xff)]
                    ^ table[1 << 8 | Int(word >> 48 & 0xff)] ^ table[Int(word >> 56)]
                index += 8
            }
            while index < bytes.count {
                crc = table[Int((crc ^ UInt64(bytes[index])) & 0xff)] ^ crc >> 8
                index += 1
            }
            return ~crc
        }
    }

    /// Row k has the CRC of each byte followed by k zero bytes.
    private static let table: [UInt64] = {
        var table = [UInt64](repeating: 0, count: 8 << 8)
        for byte in 0..<256 {
            var crc = UInt64(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xc96c_5795_d787_0f42 : crc >> 1 }
            table[byte] = crc
        }
        for index in 256..<table.count {
            let before = table[index - 256]
            table[index] = table[Int(before & 0xff)] ^ before >> 8
        }
        return table
    }()
}
