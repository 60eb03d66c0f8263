import FoundationShim

extension Double {
    /// Formats the number with so many decimals: the nearest one, ties of the exact value to even.
    /// - Parameter format: another format of C.
    package func text(decimals: Int, _ format: String = "%.*f") -> String {
        guard isFinite else { return isNaN ? "nan" : self < 0 ? "-inf" : "inf" }
        var text = [CChar](repeating: 0, count: 330 + max(0, decimals))
        let count = withVaList([Int32(clamping: decimals), self]) {
            vsnprintf(&text, text.count, format, $0)
        }
        return String(decoding: text.prefix(Int(max(0, count))).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
