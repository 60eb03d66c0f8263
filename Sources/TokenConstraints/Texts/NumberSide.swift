import JSON
import JSONSchema

/// The digits so far compared with those of a bound: -1 for less, 0 for equal, 1 for greater.
typealias DigitOrder = Int8

/// The digits of a bound on the magnitude.
struct NumberEdge {
    let whole: [UInt8]
    let fraction: [UInt8]
    let isExclusive: Bool

    init(_ number: ExactNumber, isExclusive: Bool) {
        (whole, fraction) = number.places
        self.isExclusive = isExclusive
    }

    /// - Parameter isFraction: whether zeros follow the digits of the edge.
    static func order(
        _ order: DigitOrder, _ digit: Int, _ edge: [UInt8]?, _ place: Int, isFraction: Bool = false
    ) -> DigitOrder {
        guard let edge, order == 0, isFraction || place < edge.count else { return order }
        let other = place < edge.count ? Int(edge[place]) : 0
        return digit < other ? -1 : digit > other ? 1 : 0
    }
}

/// Bounds on the magnitude of numbers of one sign.
struct NumberSide {
    var isOpen = true
    var low: NumberEdge?
    var high: NumberEdge?

    init(_ rules: NumberConditions, isNegative: Bool) {
        // The bounds as seen from the magnitude.
        let near = isNegative ? rules.upper : rules.lower
        let far = isNegative ? rules.lower : rules.upper
        func isBeyond(_ bound: NumberBound) -> Bool {
            !bound.value.isZero && bound.value.isNegative != isNegative
        }
        if let far {
            if isBeyond(far) || (far.value.isZero && (far.isExclusive || isNegative)) {
                isOpen = false
            } else {
                high = NumberEdge(far.value, isExclusive: far.isExclusive)
            }
        }
        if let near, !isBeyond(near) {
            low = NumberEdge(near.value, isExclusive: near.isExclusive)
            if near.value.isZero, !near.isExclusive { low = nil }
        }
        let isFree = rules.isPlain && rules.lower == nil && rules.upper == nil
        // -0 is only written without conditions.
        if isNegative, !isFree, low == nil { low = NumberEdge(ExactNumber(0), isExclusive: true) }
        // Lets integers be read exactly.
        if !rules.isPlain, high.map({ $0.whole.count > 18 && Self.isAboveInt($0, isNegative) }) ?? true {
            high = NumberEdge(ExactNumber(isNegative ? Int.min : Int.max), isExclusive: false)
        }
    }

    private static func isAboveInt(_ edge: NumberEdge, _ isNegative: Bool) -> Bool {
        let most = ExactNumber(isNegative ? Int.min : Int.max).places.whole
        return edge.whole.count > most.count
            || (edge.whole.count == most.count && most.lexicographicallyPrecedes(edge.whole))
    }
}
