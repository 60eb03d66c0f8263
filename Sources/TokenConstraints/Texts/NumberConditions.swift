import JSON
import JSONSchema

/// A schema's conditions on a number.
package struct NumberConditions: Hashable {
    package var isInteger = false
    package var minimum: ExactNumber?
    package var exclusiveMinimum: ExactNumber?
    package var maximum: ExactNumber?
    package var exclusiveMaximum: ExactNumber?
    /// It is a multiple of all of them.
    package var multiples: [ExactNumber] = []
}

package struct NumberOutcome {
    /// Nil if no number satisfies the conditions that are not left out.
    package let text: (any ByteAutomaton)?
    /// Conditions that are left out, as they would take too much.
    package let unmasked: [TextCondition]
}

/// A bound on a number.
struct NumberBound: Hashable {
    let value: ExactNumber
    let isExclusive: Bool
}

extension NumberConditions {
    /// Builds the numbers that satisfy all conditions, except those left out. Each text is read as a number that the
    /// validator judges likewise.
    package func build(_ effort: CompileEffort = CompileEffort()) -> NumberOutcome {
        var rules = NumberRulesOfText(self)
        var unmasked: [TextCondition] = []
        if ![rules.lower, rules.upper].allSatisfy({ $0?.value.isShort ?? true }) {
            unmasked.append(.bounds)
            (rules.lower, rules.upper) = (nil, nil)
        }
        if let grid = NumberGrid(multiples, isInteger: isInteger) {
            rules.grid = grid
        } else {
            unmasked.append(.multipleOf)
            rules.grid = NumberGrid([], isInteger: isInteger)
        }
        // Conditions that take too much are dropped, the grid first.
        while true {
            if rules.isEmpty { return NumberOutcome(text: nil, unmasked: unmasked) }
            if let text = NumberText.make(rules, effort) {
                return NumberOutcome(text: text, unmasked: unmasked)
            }
            if let grid = rules.grid, grid.step > 1 || grid.places > 0 {
                unmasked.append(.multipleOf)
                rules.grid = NumberGrid([], isInteger: isInteger)
            } else if rules.lower != nil || rules.upper != nil {
                unmasked.append(.bounds)
                (rules.lower, rules.upper) = (nil, nil)
            } else {
                return NumberOutcome(text: nil, unmasked: unmasked)
            }
        }
    }
}

/// Multiples of `step / 10^places`.
struct NumberGrid: Hashable {
    var step: UInt64
    var places: Int
    /// Whether there is any condition; if not, step and places mean nothing.
    var isGrid: Bool

    /// The multiples of all of these numbers; nil if they are too fine or their common multiple is too large.
    init?(_ multiples: [ExactNumber], isInteger: Bool) {
        let all = multiples + (isInteger ? [ExactNumber(1)] : [])
        isGrid = !all.isEmpty
        places = all.map { max(0, -$0.exponent) }.max() ?? 0
        step = 1
        guard places <= 12 else { return nil }
        for number in all {
            guard !number.isZero, let scaled = number.scaled(by: places), scaled > 0, scaled < 1 << 62
            else { return nil }
            let one = UInt64(scaled)
            var (a, b) = (step, one)
            while b > 0 { (a, b) = (b, a % b) }
            let (product, isTooLarge) = (step / a).multipliedReportingOverflow(by: one)
            guard !isTooLarge, product < 1 << 62 else { return nil }
            step = product
        }
        // 1.0 has no places, in any spelling of the divisors.
        while places > 0, step % 10 == 0 {
            step /= 10
            places -= 1
        }
    }
}

extension ExactNumber {
    /// The magnitude times 10^places, if that is whole and not too large.
    func scaled(by places: Int) -> Int128? {
        let shift = exponent + places
        guard shift >= 0, shift <= 18 else { return isZero ? 0 : nil }
        return significand.map { (0..<shift).reduce(Int128($0)) { value, _ in value * 10 } }
    }

    /// Whether it has so few digits before and after the point that an automaton may follow them.
    var isShort: Bool { digits.count <= 400 && abs(exponent) <= 400 }

    /// Its magnitude's digits before and after the point.
    var places: (whole: [UInt8], fraction: [UInt8]) {
        if isZero { return ([0], []) }
        var digits = digits
        if exponent >= 0 { return (digits + [UInt8](repeating: 0, count: exponent), []) }
        let places = -exponent
        if digits.count <= places {
            digits = [UInt8](repeating: 0, count: places - digits.count + 1) + digits
        }
        return (Array(digits.dropLast(places)), Array(digits.suffix(places)))
    }
}
