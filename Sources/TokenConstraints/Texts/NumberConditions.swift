import JSON
import JSONSchema

struct NumberConditions: TextConditions {
    var isInteger = false
    var lower: NumberBound?
    var upper: NumberBound?
    /// It is a multiple of all of them.
    var multiples: [ExactNumber] = []

    init() {}

    init(
        isInteger: Bool = false, minimum: ExactNumber? = nil, exclusiveMinimum: ExactNumber? = nil,
        maximum: ExactNumber? = nil, exclusiveMaximum: ExactNumber? = nil, multiples: [ExactNumber] = []
    ) {
        (self.isInteger, self.multiples) = (isInteger, multiples)
        lower = .tighter(.init(minimum), .init(exclusiveMinimum, isExclusive: true), isLower: true)
        upper = .tighter(.init(maximum), .init(exclusiveMaximum, isExclusive: true), isLower: false)
    }

    func and(_ other: NumberConditions) -> NumberConditions? {
        var both = self
        both.isInteger = isInteger || other.isInteger
        both.lower = .tighter(lower, other.lower, isLower: true)
        both.upper = .tighter(upper, other.upper, isLower: false)
        both.multiples.addMissing(other.multiples)
        return both.isEmpty ? nil : both
    }

    /// Each text is read as a number that the validator judges likewise.
    func build(_ effort: CompileEffort = CompileEffort()) -> TextOutcome<any ByteAutomaton> {
        var some = self
        var unmasked: [TextCondition] = []
        func leaveOutBounds() {
            unmasked.append(.bounds)
            (some.lower, some.upper) = (nil, nil)
        }
        func leaveOutMultiples() {
            unmasked.append(.multipleOf)
            some.multiples = []
        }
        if ![lower, upper].allSatisfy({ $0?.value.isShort ?? true }) { leaveOutBounds() }
        if grid == nil { leaveOutMultiples() }
        // Conditions that take too much are dropped, the grid first.
        while !some.isEmpty {
            if let text = NumberText.make(some, effort) { return TextOutcome(text: text, unmasked: unmasked) }
            if let grid = some.grid, grid.step > 1 || grid.places > 0 {
                leaveOutMultiples()
            } else if some.lower != nil || some.upper != nil {
                leaveOutBounds()
            } else {
                break
            }
        }
        return TextOutcome(text: nil, unmasked: unmasked)
    }

    /// Nil if the multiples are too fine, or their common multiple is too large.
    var grid: NumberGrid? { NumberGrid(multiples, isInteger: isInteger) }

    /// Whether there is at most a condition on the sign.
    var isPlain: Bool {
        guard lower?.value.isZero ?? true, upper?.value.isZero ?? true, let grid else { return false }
        return !grid.isGrid || grid.step == 1 && grid.places == 0 && isInteger
    }

    /// Whether no number is between the bounds.
    private var isEmpty: Bool {
        guard let lower, let upper else { return false }
        return upper.value < lower.value
            || upper.value == lower.value && (lower.isExclusive || upper.isExclusive)
    }
}

/// A bound on a number.
struct NumberBound: Hashable {
    let value: ExactNumber
    let isExclusive: Bool

    init?(_ value: ExactNumber?, isExclusive: Bool = false) {
        guard let value else { return nil }
        (self.value, self.isExclusive) = (value, isExclusive)
    }

    /// The tighter of two bounds on the same side.
    static func tighter(_ a: NumberBound?, _ b: NumberBound?, isLower: Bool) -> NumberBound? {
        guard let a, let b else { return a ?? b }
        if a.value == b.value { return a.isExclusive ? a : b }
        return (b.value < a.value) == isLower ? a : b
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
