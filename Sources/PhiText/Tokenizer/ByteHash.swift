/// Hashing for the tokenizer's tables. The seed is drawn once a process, so that no file can make all keys collide; no
/// result depends on it.
enum ByteHash {
    static let seed = UInt64.random(in: .min ... .max)

    @inline(__always)
    static func mix(_ a: UInt64, _ b: UInt64) -> UInt64 {
        let product = a.multipliedFullWidth(by: b)
        return product.high ^ product.low
    }

    @inline(__always)
    static func hash(_ value: UInt64, seed: UInt64) -> UInt64 {
        mix(value ^ seed, 0x9E37_79B9_7F4A_7C15)
    }

    static func hash(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt64 {
        let raw = UnsafeRawBufferPointer(bytes)
        var state = seed ^ UInt64(bytes.count)
        var i = 0
        while i + 8 <= raw.count {
            let word = raw.loadUnaligned(fromByteOffset: i, as: UInt64.self)
            state = mix(state ^ word, 0xE703_7ED1_A0B4_28DB)
            i += 8
        }
        var word: UInt64 = 0
        while i < raw.count {
            word = word << 8 | UInt64(raw[i])
            i += 1
        }
        return mix(state ^ word, 0x8EBC_6AF0_9C88_C6E3)
    }
}
