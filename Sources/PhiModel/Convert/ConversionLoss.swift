import FoundationShim

/// Differences that a conversion made in matrices of one type that MLX's format can't hold exactly.
package struct ConversionLoss: Sendable, Equatable {
    /// GGUF's name of the type, as in "Q6_K".
    package var type: String
    /// Bits of a value now.
    package var bits: Int
    package var matrices: Int
    /// Root mean square of the differences, as a share of that of the values.
    package var relativeError: Double {
        squares.value > 0 ? (squares.difference / squares.value).squareRoot() : 0
    }
    var squares: Squares

    /// Sums of squares.
    struct Squares: Sendable, Equatable {
        /// Of the differences.
        var difference = 0.0
        /// Of the values as they were.
        var value = 0.0

        mutating func add(_ value: Float, is new: Float) {
            let change = Double(new - value)
            difference += change * change
            self.value += Double(value) * Double(value)
        }

        static func += (sum: inout Squares, more: Squares) {
            sum.difference += more.difference
            sum.value += more.value
        }
    }

    /// Returns the losses of each type as one, in the order of types' names.
    static func joined(_ losses: [ConversionLoss]) -> [ConversionLoss] {
        Dictionary(losses.map { ($0.type, $0) }) { before, loss in
            var sum = before
            sum.bits = max(sum.bits, loss.bits)
            sum.matrices += loss.matrices
            sum.squares += loss.squares
            return sum
        }.values.sorted { $0.type < $1.type }
    }
}

/// Sums of a layer, by the first row of each block, so that they are added up in one order.
final class BlockSquares: Sendable {
    private let blocks = Mutex<[Int: ConversionLoss.Squares]>([:])

    func add(_ squares: ConversionLoss.Squares, _ row: Int) { blocks.withLock { $0[row] = squares } }

    var all: ConversionLoss.Squares {
        blocks.withLock { $0.sorted { $0.key < $1.key } }.reduce(into: .init()) { $0 += $1.value }
    }
}
