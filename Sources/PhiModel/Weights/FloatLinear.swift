import CPhiKernels
import OperatingSystem

/// A weight matrix [rows, columns] of a linear layer, in float32 and without a bias.
package struct FloatLinear: Sendable {
    /// Plain floats, in memory of its own: it is not part of the weight plan.
    let matrix: PackedMatrix

    /// - Throws: `ModelError` for a value that is not finite, or too little memory.
    init(_ tensors: LinearTensors) throws {
        // An array can't be refused once it is asked for: the values, their scales and biases, and the packed form.
        try MemoryRoom.require(3 * 4 * tensors.rows * tensors.columns, for: tensors.file)
        matrix = try PackedMatrix(
            floats: tensors.float32Values(), rows: tensors.rows, columns: tensors.columns)
    }
}

extension PackedMatrix {
    /// - Parameter floats: [rows][columns]
    /// - Throws: `ModelError` of kind `resources`.
    convenience init(floats: [Float], rows: Int, columns: Int) throws {
        var layout = PhiMatrix(
            data: nil, rows: UInt32(rows), columns: UInt32(columns), group: 0, kind: UInt32(PHI_PLAIN),
            float_type: UInt32(PHI_F32))
        let blocks = (rows + 15) / 16
        let memory = try PageMemory(count: layout.blockBytes * blocks)
        let out = memory.base.assumingMemoryBound(to: UInt8.self)
        floats.withUnsafeBytes {
            phi_pack_plain(&layout, $0.baseAddress?.assumingMemoryBound(to: UInt8.self), out, 0, blocks)
        }
        layout.data = UnsafePointer(out)
        self.init(layout, memory: memory)
    }
}

extension LinearTensors {
    /// Where the weights are.
    fileprivate var file: String {
        switch self {
        case .quantized(let matrix): matrix.weight.file.path
        case .plain(let weight, _, _): weight.file.path
        }
    }

    /// All values [rows][columns]; those of a quantized matrix are scale * q + bias, rounded twice.
    fileprivate func float32Values() throws -> [Float] {
        switch self {
        case .plain(let weight, let rows, _):
            try weight.checkFinite(rows: 0..<rows, of: rows)
            return try weight.floats()
        case .quantized(let q):
            for tensor in [q.scales, q.biases] { try tensor.checkFinite(rows: 0..<q.rows, of: q.rows) }
            let (scales, biases) = (try q.scales.floats(), try q.biases.floats())
            return q.weight.withBytes { bytes in
                (0..<q.rows * q.columns).map { index in
                    // Rows are whole words, so that all of them are one stream of bits.
                    let bit = index * q.bits
                    let high = bit / 8 + 1 < bytes.count ? UInt16(bytes[bit / 8 + 1]) : 0
                    let pair = UInt16(bytes[bit / 8]) | high << 8
                    let integer = pair >> UInt16(bit % 8) & (1 << UInt16(q.bits) - 1)
                    let group = index / q.groupSize
                    return scales[group] * Float(integer) + biases[group]
                }
            }
        }
    }
}
