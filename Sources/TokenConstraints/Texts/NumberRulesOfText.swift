import FoundationShim
import JSON
import JSONSchema

/// The conditions on a number that a text can satisfy.
struct NumberRulesOfText {
    let isInteger: Bool
    var lower: NumberBound?
    var upper: NumberBound?
    var grid: NumberGrid?
    var forbidden: [ExactNumber]

    init(_ conditions: NumberConditions) {
        isInteger = conditions.isInteger
        lower = Self.tighter(conditions.minimum, conditions.exclusiveMinimum, isLower: true)
        upper = Self.tighter(conditions.maximum, conditions.exclusiveMaximum, isLower: false)
        forbidden = Array(Set(conditions.forbidden)).filter { !conditions.isInteger || $0.isInteger }.sorted()
    }

    private static func tighter(
        _ inclusive: ExactNumber?, _ exclusive: ExactNumber?, isLower: Bool
    ) -> NumberBound? {
        let a = inclusive.map { NumberBound(value: $0, isExclusive: false) }
        let b = exclusive.map { NumberBound(value: $0, isExclusive: true) }
        guard let a, let b else { return a ?? b }
        return isLower ? (b.value < a.value ? a : b) : (a.value < b.value ? a : b)
    }

    /// Whether there is at most a condition on the sign.
    var isPlain: Bool {
        (lower?.value.isZero ?? true) && (upper?.value.isZero ?? true) && forbidden.isEmpty
            && (grid.map { !$0.isGrid || ($0.step == 1 && $0.places == 0 && isInteger) } ?? true)
    }

    func allows(_ number: ExactNumber) -> Bool {
        if let lower, number < lower.value || (lower.isExclusive && number == lower.value) { return false }
        if let upper, upper.value < number || (upper.isExclusive && number == upper.value) { return false }
        return !forbidden.contains(number)
    }

    /// The first and the last point of the grid between the bounds, if there are both.
    private var gridRange: (first: Int128, last: Int128)? {
        guard let lower, let upper, let grid, grid.isGrid,
            var low = lower.value.scaled(by: grid.places, up: true),
            var high = upper.value.scaled(by: grid.places, up: false)
        else { return nil }
        if lower.isExclusive, lower.value.scaled(by: grid.places, up: false) == low { low += 1 }
        if upper.isExclusive, upper.value.scaled(by: grid.places, up: true) == high { high -= 1 }
        let step = Int128(grid.step)
        func floor(_ value: Int128) -> Int128 {
            let (quotient, rest) = value.quotientAndRemainder(dividingBy: step)
            return rest < 0 ? quotient - 1 : quotient
        }
        return (floor(low + step - 1), floor(high))
    }

    /// Whether certainly no number satisfies the rules.
    var isCertainlyEmpty: Bool {
        if let lower, let upper {
            if upper.value < lower.value { return true }
            if upper.value == lower.value { return !allows(lower.value) }
        }
        return gridRange.map { $0.last < $0.first } ?? false
            || (!forbidden.isEmpty && list()?.isEmpty ?? false)
    }

    /// The texts of the numbers, if they are few and on a grid.
    private func list() -> [[UInt8]]? {
        guard let (first, last) = gridRange, let grid, last - first < 2_000, first <= last else { return nil }
        var texts: [[UInt8]] = []
        for place in first...last {
            let value = place * Int128(grid.step)
            guard value.magnitude < 1_000_000_000_000_000 else { return nil }
            let text = Self.text(value, places: grid.places)
            if !forbidden.contains(text.number) { texts.append(text.bytes) }
        }
        return texts
    }

    /// Their texts, unless the grid is so simple that its automaton accepts more of them.
    func listed() -> LiteralText? {
        guard let grid, grid.step > 1, let texts = list(), !texts.isEmpty else { return nil }
        return LiteralText(texts)
    }

    /// The shortest text of value / 10^places.
    private static func text(_ value: Int128, places: Int) -> (bytes: [UInt8], number: ExactNumber) {
        var digits = String(value.magnitude)
        digits = String(repeating: "0", count: max(0, places + 1 - digits.count)) + digits
        var text = (value < 0 ? "-" : "") + digits.dropLast(places)
        var fraction = String(digits.suffix(places))
        while fraction.hasSuffix("0") { fraction.removeLast() }
        if !fraction.isEmpty { text += "." + fraction }
        return (Array(text.utf8), ExactNumber(text: text))
    }
}
