import CPhiKernels

extension Adapter {
    /// Numbers of an adapter for one layer.
    struct Factors {
        /// a [rank][columns] and b [rows][rank]
        let a, b: [Float]
        let rank: Int
        let columns: Int
        let scale: Float
        /// Lengths of the rows [rows]; nil unless it is DoRA.
        let magnitudes: [Float]?

        /// Applies the adapter to a row of the layer's weights.
        func merge(into values: UnsafeMutablePointer<Float>, row: Int) {
            add(to: values, row: row)
            guard let factor = rowScale(values, row: row) else { return }
            for column in 0..<columns { values[column] *= factor }
        }

        /// Returns the factors of the results of W x + scale * B (A x) [rows]; nil unless it is DoRA.
        /// - Throws: `UserError` for weights that are not finite.
        func rowScales(of weights: LinearTensors, _ pool: ComputePool?) throws -> [Float]? {
            guard magnitudes != nil else { return nil }
            let (rows, columns) = (weights.rows, columns)
            try weights.checkFinite()
            var scales = [Float](repeating: 1, count: rows)
            scales.withUnsafeMutableBufferPointer { scales in
                nonisolated(unsafe) let scales = scales
                let step = 16
                let blocks = (rows + step - 1) / step
                (pool ?? ComputePool(threads: 1)).run(blocks) { block in
                    withUnsafeTemporaryAllocation(of: Float.self, capacity: columns) { buffer in
                        guard let values = buffer.baseAddress else { return }
                        for row in block * step..<min(rows, (block + 1) * step) {
                            weights.read(row, into: values)
                            add(to: values, row: row)
                            scales[row] = rowScale(values, row: row) ?? 1
                        }
                    }
                }
            }
            return scales
        }

        /// A row of length 0 stays as it is.
        private func rowScale(_ values: UnsafePointer<Float>, row: Int) -> Float? {
            guard let magnitudes else { return nil }
            var squares = 0.0
            for column in 0..<columns { squares += Double(values[column]) * Double(values[column]) }
            return squares > 0 ? Float(Double(magnitudes[row]) / squares.squareRoot()) : 1
        }

        /// Adds scale * B A.
        private func add(to values: UnsafeMutablePointer<Float>, row: Int) {
            a.withUnsafeBytes { a in
                for index in 0..<rank {
                    let factor = scale * b[row * rank + index]
                    let bytes = UnsafeRawPointer(a.baseAddress.unsafelyUnwrapped + 4 * index * columns)
                    var column = 0
                    while column + 8 <= columns {
                        let part = bytes.loadUnaligned(fromByteOffset: 4 * column, as: SIMD8<Float>.self)
                        let place = UnsafeMutableRawPointer(values + column)
                        let sum = place.loadUnaligned(as: SIMD8<Float>.self) + factor * part
                        place.storeBytes(of: sum, as: SIMD8<Float>.self)
                        column += 8
                    }
                    while column < columns {
                        values[column] += factor * bytes.load(fromByteOffset: 4 * column, as: Float.self)
                        column += 1
                    }
                }
            }
        }
    }
}
