/// Sums of the squares of each matrix column's inputs over all rows. They have the same bits with any number of
/// threads, as each column is summed in the order of its rows.
final class InputMoments {
    /// [columns] by the matrix' index in the weight plan.
    private(set) var sums: [Int: [Double]] = [:]

    /// Adds the rows of a matmul's input.
    /// - Parameter input: [rows][columns]
    func add(
        _ input: UnsafePointer<Float>, rows: Int, columns: Int, of place: Int, _ pool: ComputePool
    ) {
        var own = sums.removeValue(forKey: place) ?? [Double](repeating: 0, count: columns)
        own.withUnsafeMutableBufferPointer { own in
            nonisolated(unsafe) let own = own
            pool.runPieces(columns, unit: 64) { piece in
                for row in 0..<rows {
                    for column in piece {
                        let value = Double(input[row * columns + column])
                        own[column] += value * value
                    }
                }
            }
        }
        sums[place] = own
    }
}
