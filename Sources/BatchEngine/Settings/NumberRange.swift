/// Range of numbers that a setting may have, with its wording in messages of jobs, lines and programs.
package struct NumberRange: Sendable {
    private let bounds: ClosedRange<Double>
    /// Whether the lower bound is excluded.
    private let isAbove: Bool
    /// As in: from 0 to 10.
    package let text: String

    package init(_ low: Int, to high: Int) {
        (bounds, isAbove) = (Double(low)...Double(high), false)
        text = "from \(low) to \(high)"
    }

    package init(above low: Int, to high: Int) {
        (bounds, isAbove) = (Double(low)...Double(high), true)
        text = "above \(low), at most \(high)"
    }

    /// As in: a number from 0 to 10.
    package var right: String { "a number \(text)" }

    /// A number that rounds to the bound in single precision counts as the bound, since settings are Floats.
    package func contains(_ number: Double) -> Bool {
        bounds.contains(number) && (!isAbove || Double(Float(number)) > bounds.lowerBound)
    }

    /// Returns the problem with a number, in words that follow a name; nil if there is none.
    package func problem(_ number: some BinaryFloatingPoint) -> String? {
        contains(Double(number)) ? nil : "must be \(right), but is \(number)"
    }
}

extension ClosedRange<Int> {
    /// As in: a whole number from 0 to 20.
    package var right: String {
        upperBound == Int.max && lowerBound > Int.min
            ? "a whole number, \(lowerBound) or more" : "a whole number from \(lowerBound) to \(upperBound)"
    }

    /// Returns the problem with a number, in words that follow a name; nil if there is none.
    package func problem(_ number: Int) -> String? {
        contains(number) ? nil : "must be \(right), but is \(number)"
    }
}
