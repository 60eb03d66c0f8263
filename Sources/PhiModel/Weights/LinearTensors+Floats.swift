import CPhiKernels
import OperatingSystem

extension LinearTensors {
    /// All values [rows][columns].
    /// - Throws: `UserError` for a value that is not finite, or too little memory.
    func float32Values() throws -> [Float] {
        try checkFinite()
        // An allocation of an array can't fail, so room for values, scales, biases and a packed form is checked first.
        try Memory.require(3 * 4 * rows * columns, for: weight.file.path)
        return [Float](unsafeUninitializedCapacity: rows * columns) { buffer, count in
            for row in 0..<rows { buffer.baseAddress.map { read(row, into: $0 + row * columns) } }
            count = rows * columns
        }
    }

    /// - Throws: `UserError` of kind `malformed` for a scale, bias or plain weight that is not finite.
    func checkFinite() throws {
        for tensor in floats { try tensor.checkFinite(rows: 0..<rows, of: rows) }
    }

    /// A row's values [columns]; those of a quantized matrix are scale * q + bias, rounded twice.
    func read(_ row: Int, into values: UnsafeMutablePointer<Float>) {
        guard let quantization else { return weight.read(row, of: rows, into: values, columns) }
        let (groupSize, bits) = (quantization.parameters.groupSize, quantization.parameters.bits)
        let groups = columns / groupSize
        withUnsafeTemporaryAllocation(of: Float.self, capacity: 2 * groups) { buffer in
            guard let scales = buffer.baseAddress else { return }
            let biases = scales + groups
            quantization.scales.read(row, of: rows, into: scales, groups)
            quantization.biases.read(row, of: rows, into: biases, groups)
            weight.withBytes { bytes in
                // Rows are whole words, so that all of them are one stream of bits.
                var bit = row * columns * bits
                let mask = UInt16(1) << UInt16(bits) - 1
                for column in 0..<columns {
                    let high = bit / 8 + 1 < bytes.count ? UInt16(bytes[bit / 8 + 1]) : 0
                    let code = (UInt16(bytes[bit / 8]) | high << 8) >> UInt16(bit % 8) & mask
                    let group = column / groupSize
                    values[column] = scales[group] * Float(code) + biases[group]
                    bit += bits
                }
            }
        }
    }
}

extension TensorView {
    /// One of `rows` rows of floats.
    fileprivate func read(
        _ row: Int, of rows: Int, into values: UnsafeMutablePointer<Float>, _ columns: Int
    ) {
        withBytes { bytes in
            guard let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
            phi_to_float(start + row * (range.count / rows), type.kernelType, columns, values)
        }
    }
}
