import CPhiKernels

/// Weights must be finite: an infinity or NaN spreads to every token's logits.
extension TensorView {
    /// Checks some rows of a float tensor.
    /// - Parameter count: number of the tensor's rows.
    /// - Throws: `UserError` of kind `malformed` naming the first value that is infinite or NaN.
    func checkFinite(rows: Range<Int>, of count: Int) throws {
        let columns = self.count / max(1, count)
        let size = range.count / max(1, self.count)
        let first = rows.lowerBound * columns
        let total = rows.count * columns
        guard total > 0 else { return }
        try withBytes { bytes in
            guard let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
            let place = phi_find_not_finite(start + first * size, type.kernelType, total)
            guard place < total else { return }
            var value: Float = 0
            phi_to_float(start + (first + place) * size, type.kernelType, 1, &value)
            let index = first + place
            let at = shape.count > 1 ? "row \(index / columns), column \(index % columns)" : "place \(index)"
            throw fault(
                .malformed,
                "is \(value.isNaN ? "NaN" : "infinite") in \(at) (counted from 0). The file is damaged: fetch it "
                    + "again.")
        }
    }

    /// Returns the values of a float tensor (F16, BF16, F32), widened exactly to Float.
    /// - Throws: `UserError` of kind `malformed` for any other type.
    package func floats() throws -> [Float] {
        try expect()
        return [Float](unsafeUninitializedCapacity: count) { values, filled in
            withBytes { bytes in
                guard let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self),
                    let values = values.baseAddress
                else { return }
                phi_to_float(start, type.kernelType, count, values)
            }
            filled = count
        }
    }

    /// Returns the same, checked to be finite.
    /// - Throws: as `floats` and `checkFinite`.
    func finiteFloats() throws -> [Float] {
        let values = try floats()
        try checkFinite(rows: 0..<count, of: count)
        return values
    }
}
