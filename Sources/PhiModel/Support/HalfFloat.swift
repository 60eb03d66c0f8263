/// IEEE 754 binary16 as bits. Swift's own `Float16` does not exist on every macOS target.
enum HalfFloat {
    /// Exact for every value, infinities and NaNs included.
    static func widen(_ bits: UInt16) -> Float {
        let sign = UInt32(bits & 0x8000) << 16
        let exponent = UInt32(bits >> 10 & 0x1F)
        let fraction = UInt32(bits & 0x3FF)
        switch exponent {
        case 0x1F: return Float(bitPattern: sign | 0x7F80_0000 | fraction << 13)
        case 0: return Float(sign: sign == 0 ? .plus : .minus, exponent: -24, significand: Float(fraction))
        default: return Float(bitPattern: sign | (exponent + 112) << 23 | fraction << 13)
        }
    }

    /// Returns the bits of a value that binary16 can represent exactly; nil if it can't (or is NaN).
    static func exactly(_ value: Float) -> UInt16? {
        let sign = UInt16(truncatingIfNeeded: value.bitPattern >> 16 & 0x8000)
        let magnitude = value.magnitude
        guard magnitude <= 65504 else { return nil }
        if magnitude < 0x1p-14 {
            let units = magnitude * 0x1p24  // Exact: a power of two, far from overflow.
            guard units == units.rounded(.towardZero) else { return nil }
            return sign | UInt16(units)
        }
        guard magnitude.bitPattern & 0x1FFF == 0 else { return nil }
        return sign | UInt16((magnitude.bitPattern >> 13) - 112 << 10)
    }
}
