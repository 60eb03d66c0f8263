import FoundationShim

extension Double {
    /// The number with so many digits after the point: the nearest such one, ties of its exact value to even.
    /// - Parameter format: another of C's.
    package func text(decimals: Int, _ format: String = "%.*f") -> String {
        guard isFinite else { return isNaN ? "nan" : self < 0 ? "-inf" : "inf" }
        var text = [CChar](repeating: 0, count: 330 + max(0, decimals))
        let count = withVaList([Int32(clamping: decimals), self]) {
            vsnprintf(&text, text.count, format, $0)
        }
        return String(decoding: text.prefix(Int(max(0, count))).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
