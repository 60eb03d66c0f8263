import FoundationShim
import JSON
import JSONSchema

/// The conditions on a number that a text can satisfy.
struct NumberRulesOfText {
    let isInteger: Bool
    var lower: NumberBound?
    var upper: NumberBound?
    var grid: NumberGrid?

    init(_ conditions: NumberConditions) {
        isInteger = conditions.isInteger
        lower = Self.tighter(conditions.minimum, conditions.exclusiveMinimum, isLower: true)
        upper = Self.tighter(conditions.maximum, conditions.exclusiveMaximum, isLower: false)
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
        (lower?.value.isZero ?? true) && (upper?.value.isZero ?? true)
            && (grid.map { !$0.isGrid || ($0.step == 1 && $0.places == 0 && isInteger) } ?? true)
    }

    /// Whether no number is between the bounds.
    var isEmpty: Bool {
        guard let lower, let upper else { return false }
        return upper.value < lower.value
            || upper.value == lower.value && (lower.isExclusive || upper.isExclusive)
    }
}
