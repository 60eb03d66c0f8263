import CPhiKernels
import Errors
import OperatingSystem

/// Makes what a tensor becomes, some rows at a time.
struct TensorQuantizer {
    let tensor: PlannedTensor
    let writers: [SafetensorsWriter]
    /// Weight of each column of each part [columns]; nil takes MLX's scales and biases.
    var columnWeights: [[Float]?]
    /// Factors of an adapter that changes the weights; nil leaves them.
    var factors: Adapter.Factors?

    /// Bytes of the source that one thread reads at a time.
    private static let blockSize = 1 << 20

    /// Rows that are worked on together.
    var blockRows: Int {
        max(1, Self.blockSize / max(1, tensor.columns * (tensor.type.itemSize ?? 1)))
    }

    /// Reads some rows of the source and writes what they become. May be called from any thread.
    /// - Throws: `UserError`: `malformed` for what is not finite, or can't be in the type to be written;
    ///   `resources` if writing fails.
    func run(_ rows: Range<Int>) throws {
        let each = max(1, tensor.rows / tensor.parts.count)
        var row = rows.lowerBound
        while row < rows.upperBound {
            let (part, first) = row.quotientAndRemainder(dividingBy: each)
            let last = min(each, first + rows.upperBound - row)
            try run(first..<last, of: part, each)
            row += last - first
        }
    }

    /// The same of some rows of one part, which has `count` of them.
    private func run(_ rows: Range<Int>, of number: Int, _ count: Int) throws {
        let source = tensor.parts[number]
        try source.checkFinite(rows: rows, of: count)
        let rowSize = tensor.columns * (source.type.itemSize ?? 0)
        try source.withBytes { bytes in
            let part = UnsafeRawBufferPointer(
                rebasing: bytes[rows.lowerBound * rowSize..<rows.upperBound * rowSize])
            if tensor.parameters == nil, source.type == tensor.floats, factors == nil {
                try put(part, 0, number * count + rows.lowerBound)
            } else {
                try convert(part, rows, of: number, count)
            }
            // It is not needed again, and must not push out what others need.
            Memory.dropPages(part)
        }
    }

    /// - Parameter row: the first, of all parts together.
    private func put(_ bytes: UnsafeRawBufferPointer, _ output: Int, _ row: Int) throws {
        let place = tensor.places[output]
        let rowSize = tensor.outputs[output].byteCount / tensor.rows
        try writers[place.file].put(bytes, tensor: place.tensor, at: row * rowSize)
    }

    private func convert(
        _ bytes: UnsafeRawBufferPointer, _ rows: Range<Int>, of number: Int, _ count: Int
    ) throws {
        let (source, columns) = (tensor.parts[number], tensor.columns)
        let rowSize = bytes.count / rows.count
        let floats = UnsafeMutablePointer<Float>.allocate(capacity: columns)
        defer { floats.deallocate() }
        let sizes = tensor.outputs.map { $0.byteCount / tensor.rows }
        let buffers = sizes.map { size in
            UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(1, size * rows.count))
        }
        defer { for buffer in buffers { buffer.deallocate() } }
        guard let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
        for row in 0..<rows.count {
            phi_to_float(start + row * rowSize, source.type.kernelType, columns, floats)
            factors?.merge(into: floats, row: rows.lowerBound + row)
            let outputs = zip(buffers, sizes).compactMap { buffer, size in
                buffer.baseAddress.map { $0 + row * size }
            }
            try narrow(floats, of: source, row: rows.lowerBound + row, in: outputs[0])
            guard let parameters = tensor.parameters else { continue }
            let (group, bits) = (UInt32(parameters.groupSize), UInt32(parameters.bits))
            let type = tensor.floats.kernelType
            if let columnWeights = columnWeights[number] {
                phi_quantize_weighted(
                    floats, columnWeights, columns, group, bits, type, outputs[0], outputs[1], outputs[2])
            } else {
                phi_quantize(floats, columns, group, bits, type, outputs[0], outputs[1], outputs[2])
            }
            let groups = columns / parameters.groupSize
            guard phi_find_not_finite(outputs[1], tensor.floats.kernelType, groups) == groups else {
                throw source.fault(
                    .malformed,
                    "has values in row \(rows.lowerBound + row) (counted from 0) that are too far apart for a scale "
                        + "of type \(tensor.floats).")
            }
        }
        for (output, buffer) in buffers.enumerated() {
            let filled = UnsafeRawBufferPointer(
                rebasing: UnsafeRawBufferPointer(buffer)[..<(sizes[output] * rows.count)])
            try put(filled, output, number * count + rows.lowerBound)
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
