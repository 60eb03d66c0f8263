import CPhiKernels
import Errors
import OperatingSystem

/// Converts a tensor, some rows at a time.
struct TensorQuantizer: RowSource {
    let tensor: PlannedTensor
    let bits: Int?
    /// Weight of each column of each part [columns]; nil takes MLX's scales and biases.
    var columnWeights: [[Float]?]
    /// Factors of an adapter that changes the weights; nil leaves them.
    var factors: Adapter.Factors?

    var path: String { tensor.path }
    var outputs: [SafetensorsWriter.Announcement] { tensor.outputs }
    var rows: Int { tensor.rows }
    var rowSize: Int { tensor.columns * (tensor.type.itemSize ?? 1) }

    func converted(_ rows: Range<Int>) throws -> [[UInt8]] {
        let each = max(1, tensor.rows / tensor.parts.count)
        let sizes = outputs.map { $0.byteCount / tensor.rows }
        let buffers = sizes.map {
            UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(1, $0 * rows.count))
        }
        defer { for buffer in buffers { buffer.deallocate() } }
        var row = rows.lowerBound
        while row < rows.upperBound {
            let (part, first) = row.quotientAndRemainder(dividingBy: each)
            let last = min(each, first + rows.upperBound - row)
            let starts = zip(buffers, sizes).compactMap { buffer, size in
                buffer.baseAddress.map { ($0 + (row - rows.lowerBound) * size, size) }
            }
            try convert(first..<last, of: part, each, to: starts)
            row += last - first
        }
        return zip(buffers, sizes).map { Array($0[..<($1 * rows.count)]) }
    }

    /// Converts some rows of one part, which has `count` of them.
    /// - Parameter outputs: each output's place for the first of them, and the bytes of a row.
    private func convert(
        _ rows: Range<Int>, of number: Int, _ count: Int,
        to outputs: [(start: UnsafeMutablePointer<UInt8>, size: Int)]
    ) throws {
        let source = tensor.parts[number]
        try source.checkFinite(rows: rows, of: count)
        try source.withBytes { bytes in
            let part = UnsafeRawBufferPointer(
                rebasing: bytes[rows.lowerBound * rowSize..<rows.upperBound * rowSize])
            guard let start = part.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
            if tensor.parameters == nil, source.type == tensor.floats, factors == nil {
                outputs[0].start.update(from: start, count: part.count)
            } else {
                try withUnsafeTemporaryAllocation(of: Float.self, capacity: tensor.columns) { floats in
                    guard let floats = floats.baseAddress else { return }
                    for row in 0..<rows.count {
                        phi_to_float(start + row * rowSize, source.type.kernelType, tensor.columns, floats)
                        try convert(
                            floats, source, row: rows.lowerBound + row, columnWeights[number],
                            to: outputs.map { $0.start + row * $0.size })
                    }
                }
            }
            // It is not needed again, and must not push out what others need.
            Memory.dropPages(part)
        }
    }

    private func convert(
        _ floats: UnsafeMutablePointer<Float>, _ source: TensorView, row: Int, _ columnWeights: [Float]?,
        to outputs: [UnsafeMutablePointer<UInt8>]
    ) throws {
        let columns = tensor.columns
        factors?.merge(into: floats, row: row)
        try narrow(floats, of: source, row: row, in: outputs[0])
        guard let parameters = tensor.parameters else { return }
        let (group, bits) = (UInt32(parameters.groupSize), UInt32(parameters.bits))
        let type = tensor.floats.kernelType
        if let columnWeights {
            phi_quantize_weighted(
                floats, columnWeights, columns, group, bits, type, outputs[0], outputs[1], outputs[2])
        } else {
            phi_quantize(floats, columns, group, bits, type, outputs[0], outputs[1], outputs[2])
        }
        let groups = columns / parameters.groupSize
        guard phi_find_not_finite(outputs[1], type, groups) == groups else {
            throw source.fault(
                .malformed,
                "has values in row \(row) (counted from 0) that are too far apart for a scale of type \(tensor.floats)."
            )
        }
    }

    /// Rounds a row to the type to be written, where the source has another one, or it was changed.
    /// - Parameter scratch: gets the row in that type if it is not quantized; has room for it in any case.
    private func narrow(
        _ floats: UnsafeMutablePointer<Float>, of source: TensorView, row: Int,
        in scratch: UnsafeMutablePointer<UInt8>
    ) throws {
        guard tensor.floats != source.type || factors != nil else { return }
        let columns = tensor.columns
        let type = tensor.floats.kernelType
        let limit: Float =
            switch tensor.floats {
            case .f16: 65520
            case .bf16: 0x1.FFp127
            default: .infinity
            }
        for column in 0..<columns where floats[column].magnitude >= limit {
            throw source.fault(
                .malformed,
                "is \(floats[column]) in row \(row), column \(column) (counted from 0), which \(tensor.floats) (torch_dtype in "
                    + "config.json) can't hold.")
        }
        if tensor.parameters == nil {
            phi_from_float(floats, type, columns, scratch)
        } else {
            phi_round(floats, type, columns)
        }
    }
}
