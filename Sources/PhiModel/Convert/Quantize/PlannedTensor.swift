import CPhiKernels
import Errors
import OperatingSystem

/// One tensor of the source, or some that become one, and what becomes of it.
struct PlannedTensor: RowSource {
    /// As in MLX's format.
    let name: String
    /// All of one shape and type.
    let parts: [TensorView]
    /// The rows of all parts together.
    let rows: Int
    let columns: Int
    /// The type of what is written: the tensor itself, or its scales and biases.
    let floats: TensorType
    /// Nil keeps it as floats.
    let parameters: QuantizationParameters?
    /// The tensors it becomes: itself, or weight, scales and biases.
    let outputs: [SafetensorsWriter.Announcement]

    /// Nil for what is no matrix.
    var bits: Int?
    /// Weight of each column of each part [columns]; nil takes MLX's scales and biases.
    var columnWeights: [[Float]?] = []
    /// Factors of an adapter that changes the weights; nil leaves them.
    var factors: Adapter.Factors?

    /// Without ".weight".
    var path: String { name.hasSuffix(".weight") ? String(name.dropLast(7)) : name }

    var type: TensorType { parts[0].type }
    var rowSize: Int { columns * (type.itemSize ?? 1) }
    /// Values, and their bytes, of all parts.
    var count: Int { parts.reduce(0) { $0 + $1.count } }
    var byteCount: Int { parts.reduce(0) { $0 + $1.range.count } }

    /// - Parameter parts: one, or some that are stacked: then what is made has one dimension more.
    init(
        _ name: String, _ parts: [TensorView], floats: TensorType?, parameters: QuantizationParameters?
    ) {
        let floats = floats ?? parts[0].type
        let part = parts[0]
        self.name = name
        self.parts = parts
        self.floats = floats
        self.parameters = parameters
        columns = part.shape.last ?? 1
        rows = parts.count * (part.count / max(1, columns))
        let shape = (parts.count > 1 ? [parts.count] : []) + part.shape
        outputs =
            parameters == nil
            ? [.init(name: name, type: floats, shape: shape)]
            : SafetensorsWriter.Announcement.layer(
                String(name.dropLast(7)), shape: shape, parameters, floats: floats)
    }
}

extension PlannedTensor {
    func converted(_ rows: Range<Int>) throws -> [[UInt8]] {
        let each = max(1, self.rows / parts.count)
        let sizes = outputs.map { $0.byteCount / self.rows }
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
        let source = parts[number]
        try source.checkFinite(rows: rows, of: count)
        try source.withBytes { bytes in
            let part = UnsafeRawBufferPointer(
                rebasing: bytes[rows.lowerBound * rowSize..<rows.upperBound * rowSize])
            guard let start = part.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
            if parameters == nil, source.type == floats, factors == nil {
                outputs[0].start.update(from: start, count: part.count)
            } else {
                try withUnsafeTemporaryAllocation(of: Float.self, capacity: columns) { floats in
                    guard let floats = floats.baseAddress else { return }
                    for row in 0..<rows.count {
                        phi_to_float(start + row * rowSize, source.type.kernelType, columns, floats)
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
        factors?.merge(into: floats, row: row)
        try narrow(floats, of: source, row: row, in: outputs[0])
        guard let parameters else { return }
        let (group, bits) = (UInt32(parameters.groupSize), UInt32(parameters.bits))
        let type = self.floats.kernelType
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
                "has values in row \(row) (counted from 0) that are too far apart for a scale of type \(self.floats)."
            )
        }
    }

    /// Rounds a row to the type to be written, where the source has another one, or it was changed.
    /// - Parameter scratch: gets the row in that type if it is not quantized; has room for it in any case.
    private func narrow(
        _ floats: UnsafeMutablePointer<Float>, of source: TensorView, row: Int,
        in scratch: UnsafeMutablePointer<UInt8>
    ) throws {
        guard self.floats != source.type || factors != nil else { return }
        let type = self.floats.kernelType
        let limit: Float =
            switch self.floats {
            case .f16: 65520
            case .bf16: 0x1.FFp127
            default: .infinity
            }
        for column in 0..<columns where floats[column].magnitude >= limit {
            throw source.fault(
                .malformed,
                "is \(floats[column]) in row \(row), column \(column) (counted from 0), which \(self.floats) (torch_dtype in "
                    + "config.json) can't hold.")
        }
        if parameters == nil {
            phi_from_float(floats, type, columns, scratch)
        } else {
            phi_round(floats, type, columns)
        }
    }
}
