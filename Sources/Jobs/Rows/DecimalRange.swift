import BatchEngine
import JSON

/// Random numbers with a fixed number of decimals within inclusive bounds, drawn as integers.
struct DecimalRange: Sendable, Equatable {
    /// Times 10^decimals.
    let first: Int
    let last: Int
    let decimals: Int

    static let decimalsRange = 0...15

    /// - Parameter decimals: nil is as many as the bounds are written with; none makes whole numbers.
    /// - Throws: `SettingProblem` if the range is invalid.
    init(_ first: JSONValue, _ last: JSONValue, decimals: Int?) throws(SettingProblem) {
        let right = "must have from and to, two numbers such as {from: 18, to: 80}"
        guard let least = Self.decimals(of: first), let other = Self.decimals(of: last) else {
            throw SettingProblem(right)
        }
        self.decimals = decimals ?? max(least, other)
        guard Self.decimalsRange.contains(self.decimals) else {
            throw SettingProblem(
                "has numbers with \(self.decimals) decimals, which must be from 0 to 15")
        }
        let scaled = try Self.scaled(first, self.decimals)
        let end = try Self.scaled(last, self.decimals)
        guard scaled <= end else {
            throw SettingProblem("goes from \(first.shown) to \(last.shown), which is less; from comes first")
        }
        (self.first, self.last) = (scaled, end)
    }

    /// A number, as JSON.
    func value(_ bits: UInt64) -> String {
        // The number of all Int values is one more than fits.
        let span = UInt64(bitPattern: Int64(last &- first))
        let offset = span == .max ? bits : bits.multipliedFullWidth(by: span + 1).high
        return text(first &+ Int(Int64(bitPattern: offset)))
    }

    func text(_ scaled: Int) -> String {
        guard decimals > 0 else { return String(scaled) }
        let digits = String(scaled.magnitude)
        let padded = String(repeating: "0", count: max(0, decimals + 1 - digits.count)) + digits
        return (scaled < 0 ? "-" : "") + padded.dropLast(decimals) + "." + padded.suffix(decimals)
    }

    /// Returns the number of decimals as written; nil if it is no number.
    private static func decimals(of value: JSONValue) -> Int? {
        switch value {
        case .int: return 0
        case .number(let number):
            let parts = number.text.lowercased().split(separator: "e")
            let written = parts[0].split(at: ".").dropFirst().first?.count ?? 0
            // A larger exponent makes no number within the bounds.
            let exponent = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
            return max(0, written - max(-1000, min(exponent, 1000)))
        default: return nil
        }
    }

    private static func scaled(_ value: JSONValue, _ decimals: Int) throws(SettingProblem) -> Int {
        guard let number = ExactNumber(value), number.exponent + decimals >= 0 else {
            throw SettingProblem("has \(value.shown), which has more decimals than \(decimals)")
        }
        let digits = String(decoding: number.digits.map { $0 | 0x30 }, as: UTF8.self)
        let zeros = String(repeating: "0", count: min(number.exponent + decimals, 20))
        guard let scaled = Int((number.isNegative ? "-0" : "0") + digits + zeros) else {
            throw SettingProblem(
                "has \(value.shown), which is too large: with its decimals it has over 18 digits")
        }
        return scaled
    }
}
