import CPhiKernels
import OperatingSystem

extension PackedMatrix {
    /// The values as float32 in their own memory, outside the weight plan.
    /// - Throws: `UserError` for a value that is not finite, or too little memory.
    convenience init(floatsOf tensors: LinearTensors) throws {
        // An allocation of an array can't fail, so room for values, scales, biases and packed form is checked first.
        try Memory.require(3 * 4 * tensors.rows * tensors.columns, for: tensors.file)
        try self.init(floats: tensors.float32Values(), rows: tensors.rows, columns: tensors.columns)
    }

    /// - Parameter floats: [rows][columns]
    /// - Throws: `UserError` of kind `resources`.
    convenience init(floats: [Float], rows: Int, columns: Int) throws {
        var layout = PhiMatrix(plain: rows, columns)
        let memory = try PageMemory(count: layout.bytes)
        let out = memory.base.assumingMemoryBound(to: UInt8.self)
        floats.withUnsafeBytes {
            phi_pack_plain(
                &layout, $0.baseAddress?.assumingMemoryBound(to: UInt8.self), out, 0, layout.blocks)
        }
        layout.data = UnsafePointer(out)
        self.init(layout, memory: memory)
    }
}

extension LinearTensors {
    /// Memory of the weights.
    fileprivate var file: String {
        switch self {
        case .quantized(let matrix): matrix.weight.file.path
        case .plain(let weight, _, _): weight.file.path
        }
    }

    /// All values [rows][columns].
    fileprivate func float32Values() throws -> [Float] {
        try checkFinite()
        return [Float](unsafeUninitializedCapacity: rows * columns) { buffer, count in
            for row in 0..<rows { buffer.baseAddress.map { read(row, into: $0 + row * columns) } }
            count = rows * columns
        }
    }

    /// - Throws: `UserError` of kind `malformed` for a scale, bias or plain weight that is not finite.
    func checkFinite() throws {
        switch self {
        case .plain(let weight, let rows, _): try weight.checkFinite(rows: 0..<rows, of: rows)
        case .quantized(let q):
            for tensor in [q.scales, q.biases] { try tensor.checkFinite(rows: 0..<q.rows, of: q.rows) }
        }
    }

    /// A row's values [columns]; those of a quantized matrix are scale * q + bias, rounded twice.
    func read(_ row: Int, into values: UnsafeMutablePointer<Float>) {
        switch self {
        case .plain(let weight, let rows, let columns): weight.read(row, of: rows, into: values, columns)
        case .quantized(let q):
            let groups = q.columns / q.groupSize
            withUnsafeTemporaryAllocation(of: Float.self, capacity: 2 * groups) { buffer in
                guard let scales = buffer.baseAddress else { return }
                let biases = scales + groups
                q.scales.read(row, of: q.rows, into: scales, groups)
                q.biases.read(row, of: q.rows, into: biases, groups)
                q.weight.withBytes { bytes in
                    // Rows are whole words, so that all of them are one stream of bits.
                    var bit = row * q.columns * q.bits
                    let mask = UInt16(1) << UInt16(q.bits) - 1
                    for column in 0..<q.columns {
                        let high = bit / 8 + 1 < bytes.count ? UInt16(bytes[bit / 8 + 1]) : 0
                        let code = (UInt16(bytes[bit / 8]) | high << 8) >> UInt16(bit % 8) & mask
                        let group = column / q.groupSize
                        values[column] = scales[group] * Float(code) + biases[group]
                        bit += q.bits
                    }
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
