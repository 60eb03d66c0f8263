import Regex

/// Walks all beginnings of numbers under conditions, and builds their automaton.
///
/// Digits are bounded so that the number read from a text, an Int or the nearest Double, is judged as the text is. A
/// Double keeps 15 digits of any decimal.
struct NumberWalk {
    fileprivate enum Phase: UInt8 {
        case start, minus, zero, whole, point, fraction, exponent, plusSign, minusSign, plusDigits,
            minusDigits, end
    }

    fileprivate struct Key: Hashable {
        var phase = Phase.start
        var isNegative = false
        /// Digits before the point, and after it, as far as they matter.
        var whole: UInt8 = 0
        var places: UInt8 = 0
        var low: DigitOrder = 0
        var high: DigitOrder = 0
        /// Modulo the grid's step; in an exponent, what matters of it.
        var rest: UInt64 = 0
    }

    private var sides: [NumberSide]
    private let isPlain: Bool
    private let allowsFraction: Bool
    private let mostWhole: Int
    /// Digits of a text with a fraction; and after its point.
    private let mostDigits: Int
    private let mostPlaces: Int
    private let step: UInt64
    private let places: Int
    private let isGrid: Bool
    private var result = ScalarAutomaton(classCount: NumberText.columns)
    private var indices: [Key: Int32] = [:]
    private var keys: [Key] = []

    init(_ rules: NumberConditions) {
        isPlain = rules.isPlain
        let grid = rules.grid
        isGrid = grid?.isGrid ?? false
        step = isGrid ? grid?.step ?? 1 : 1
        places = isGrid ? grid?.places ?? 0 : 0
        allowsFraction = !rules.isInteger
        sides = [NumberSide(rules, isNegative: false), NumberSide(rules, isNegative: true)]
        let isExact =
            isGrid
            || [rules.lower, rules.upper].contains { $0.map { $0.isExclusive && !$0.value.isZero } ?? false }
        mostDigits = isPlain ? 80 : isExact ? 15 : 55
        mostPlaces = isGrid ? places + 1 : 40
        var most = isPlain ? 40 : 19
        if step > 1 {
            // Fewer digits where each of them takes as many states as there are rests; but enough for any rest.
            let signs = UInt64(sides.count { $0.isOpen })
            let phases = UInt64(rules.isInteger ? 1 : mostPlaces + 2)
            most = min(most, Int(UInt64(ConstraintLimits.numberStates) / (step * phases * max(signs, 1))))
            if most <= String(step).utf8.count { most = 0 }
        }
        mostWhole = most
        for i in sides.indices where sides[i].high.map({ $0.whole.count > most }) ?? false {
            sides[i].high = nil
        }
    }

    /// - Returns: nil beyond the limit. Dead ends are left in.
    mutating func automaton() -> ScalarAutomaton? {
        guard mostWhole > 0 else { return nil }
        result.start = index(Key())
        var done = 0
        while done < keys.count {
            let key = keys[done]
            for column in 0..<NumberText.columns {
                if let next = next(key, column) { result.set(Int32(done), column, index(next)) }
            }
            guard keys.count <= ConstraintLimits.numberStates else { return nil }
            done += 1
        }
        return result
    }

    private mutating func index(_ key: Key) -> Int32 {
        if let known = indices[key] { return known }
        let state = result.addState(isFinal: isFinal(key))
        indices[key] = state
        keys.append(key)
        return state
    }

    // MARK: Steps

    private func next(_ key: Key, _ column: Int) -> Key? {
        let side = sides[key.isNegative ? 1 : 0]
        switch (key.phase, column) {
        case (.start, 10): return sides[1].isOpen ? Key(phase: .minus, isNegative: true) : nil
        case (.start, 0...9): return sides[0].isOpen ? firstDigit(key, column) : nil
        case (.minus, 0...9): return firstDigit(key, column)
        case (.whole, 0...9): return digit(key, column, side)
        case (.zero, 12), (.whole, 12): return point(key, side)
        case (.point, 0...9), (.fraction, 0...9): return place(key, column, side)
        case (.zero, 13), (.whole, 13), (.fraction, 13): return exponent(key, side)
        case (.exponent, 10), (.exponent, 11):
            return key.with { $0.phase = column == 10 ? .minusSign : .plusSign }
        case (.exponent, 0...9), (.plusSign, 0...9): return exponentDigit(key, column, .plusDigits)
        case (.minusSign, 0...9): return exponentDigit(key, column, .minusDigits)
        case (.plusDigits, 0...9), (.minusDigits, 0...9): return exponentDigit(key, column, key.phase)
        default: return nil
        }
    }

    private func firstDigit(_ key: Key, _ digit: Int) -> Key? {
        var first = key
        first.phase = .whole
        guard var after = self.digit(first, digit, sides[key.isNegative ? 1 : 0]) else { return nil }
        if digit == 0 { after.phase = .zero }
        return after
    }

    private func digit(_ key: Key, _ digit: Int, _ side: NumberSide) -> Key? {
        guard Int(key.whole) < mostWhole else { return nil }
        var after = key
        let place = Int(key.whole)
        after.low = NumberEdge.order(key.low, digit, side.low?.whole, place)
        after.high = NumberEdge.order(key.high, digit, side.high?.whole, place)
        if let high = side.high, place >= high.whole.count { return nil }
        if let high = side.high, place + 1 == high.whole.count, after.high > 0 { return nil }
        after.whole += 1
        after.rest = rest(key.rest, digit)
        return after
    }

    private func rest(_ rest: UInt64, _ digit: Int) -> UInt64 { (rest * 10 + UInt64(digit)) % step }

    private func point(_ key: Key, _ side: NumberSide) -> Key? {
        guard allowsFraction, key.whole <= 15 || isPlain else { return nil }
        var after = wholeEnded(key, side)
        after.phase = .point
        // A lone zero is no significant digit.
        if key.phase == .zero || mostDigits >= mostPlaces + 15 { after.whole = 0 }
        if isPlain { after.whole = key.whole > 8 ? 9 : 0 }
        return after
    }

    /// Compares all digits before the point.
    private func wholeEnded(_ key: Key, _ side: NumberSide) -> Key {
        var after = key
        func order(_ order: DigitOrder, _ edge: NumberEdge?) -> DigitOrder {
            guard let edge else { return 0 }
            let count = Int(key.whole)
            return count < edge.whole.count ? -1 : count > edge.whole.count ? 1 : order
        }
        after.low = order(key.low, side.low)
        after.high = order(key.high, side.high)
        return after
    }

    private func place(_ key: Key, _ digit: Int, _ side: NumberSide) -> Key? {
        let place = Int(key.places)
        guard place < mostPlaces, place + Int(key.whole) < mostDigits else { return nil }
        if isGrid, place >= places, digit != 0 { return nil }
        var after = key
        after.phase = .fraction
        after.places += 1
        after.low = NumberEdge.order(key.low, digit, side.low?.fraction, place, isFraction: true)
        after.high = NumberEdge.order(key.high, digit, side.high?.fraction, place, isFraction: true)
        if after.high > 0 { return nil }
        if place < places { after.rest = rest(key.rest, digit) }
        return after
    }

    /// Only with at most a condition on the sign: then the exponent does not matter.
    private func exponent(_ key: Key, _ side: NumberSide) -> Key? {
        guard isPlain, allowsFraction, key.whole <= 8 else { return nil }
        var after = key.phase == .fraction ? key : wholeEnded(key, side)
        after.phase = .exponent
        (after.whole, after.places) = (0, 0)
        return after
    }

    /// At most e299 and e-259, so that no number overflows, or is read as 0.
    private func exponentDigit(_ key: Key, _ digit: Int, _ phase: Phase) -> Key? {
        var after = key
        after.phase = phase
        switch key.whole {
        // The first: 0 or 1, 2, others.
        case 0: after.rest = digit < 2 ? 1 : digit == 2 ? 2 : 3
        // The second: whether a third one may follow.
        case 1:
            let mayGoOn = key.rest == 1 || (key.rest == 2 && (phase == .plusDigits || digit <= 5))
            after.rest = mayGoOn ? 1 : 0
        case 2 where key.rest == 1: after.rest = 0
        default: return nil
        }
        after.whole += 1
        if after.whole >= 2, after.rest == 0 { (after.phase, after.whole) = (.end, 0) }
        return after
    }

    // MARK: Ends

    private func isFinal(_ key: Key) -> Bool {
        let side = sides[key.isNegative ? 1 : 0]
        var end = key
        switch key.phase {
        case .zero, .whole: end = wholeEnded(key, side)
        case .fraction, .plusDigits, .minusDigits, .end: break
        default: return false
        }
        let place = Int(key.places)
        func isLess(_ order: DigitOrder, _ edge: NumberEdge) -> Bool {
            order < 0 || (order == 0 && place < edge.fraction.count)
        }
        if let low = side.low {
            if isLess(end.low, low) || (low.isExclusive && end.low == 0) { return false }
        }
        if let high = side.high {
            if end.high > 0 || (high.isExclusive && !isLess(end.high, high)) { return false }
        }
        guard isGrid else { return true }
        return (place..<max(place, places)).reduce(key.rest) { rest, _ in rest * 10 % step } == 0
    }
}

extension NumberWalk.Key {
    fileprivate func with(_ change: (inout Self) -> Void) -> Self {
        var copy = self
        change(&copy)
        return copy
    }
}
