/// Turns source rows into the bytes of one kind of output tensor, appended to a buffer row by row.
struct RowEncoder {
    /// Tensor of a layer that is written.
    enum Output {
        case weight, scales, biases
    }

    let format: PlannedLayer.Format
    let output: Output

    /// Bytes of one output row.
    static func rowSize(_ format: PlannedLayer.Format, _ output: Output, columns: Int) -> Int {
        switch (format, output) {
        case (.affine(let bits, _), .weight): columns * bits / 8
        case (.affine(_, let scales), _): columns / PlannedLayer.groupSize * (scales == .f32 ? 4 : 2)
        case (.plain(let type), _): columns * (type == .f32 ? 4 : 2)
        }
    }

    func append(_ row: UnsafeRawBufferPointer, type: GGMLType, to buffer: inout [UInt8]) {
        switch (format, output) {
        case (.affine(let bits, _), .weight): Self.appendCodes(row, type: type, bits: bits, to: &buffer)
        case (.affine(_, let scaleType), _):
            for offset in stride(from: 0, to: row.count, by: type.blockSize) {
                for group in 0..<type.groupsPerBlock {
                    let (scale, bias) = QuantizedBlock.affine(row, at: offset, group: group, type: type)
                    Self.append(output == .scales ? scale : bias, as: scaleType, to: &buffer)
                }
            }
        case (.plain(let target), _):
            if target != .f32 || type == .f32 {
                buffer.append(contentsOf: row)  // The source has the target's type.
            } else {
                for offset in stride(from: 0, to: row.count, by: 2) {
                    let bits = UInt16(
                        littleEndian: row.loadUnaligned(fromByteOffset: offset, as: UInt16.self))
                    let value = type == .bf16 ? Float(bitPattern: UInt32(bits) << 16) : HalfFloat.widen(bits)
                    Self.append(value, as: .f32, to: &buffer)
                }
            }
        }
    }

    private static func append(_ value: Float, as type: TensorType, to buffer: inout [UInt8]) {
        if type == .f32 {
            withUnsafeBytes(of: value.bitPattern.littleEndian) { buffer.append(contentsOf: $0) }
            return
        }
        guard let bits = HalfFloat.exactly(value) else {
            preconditionFailure("the plan chose F16 for a value it can't hold")
        }
        withUnsafeBytes(of: bits.littleEndian) { buffer.append(contentsOf: $0) }
    }

    /// One little-endian bit stream a row. 32 values of any width fill whole words, so blocks don't mix.
    private static func appendCodes(
        _ row: UnsafeRawBufferPointer, type: GGMLType, bits: Int, to buffer: inout [UInt8]
    ) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 32) { codes in
            guard let base = codes.baseAddress else { return }
            let groups = row.count / type.blockSize * type.groupsPerBlock
            for group in 0..<groups {
                let (block, within) = group.quotientAndRemainder(dividingBy: type.groupsPerBlock)
                QuantizedBlock.codes(row, at: block * type.blockSize, group: within, type: type, into: base)
                append(base, bits: bits, to: &buffer)
            }
        }
    }

    /// 32 codes, the first one lowest.
    @inline(__always)
    static func append(_ codes: UnsafePointer<UInt8>, bits: Int, to buffer: inout [UInt8]) {
        var (stream, filled) = (UInt64(0), 0)
        for index in 0..<32 {
            stream |= UInt64(codes[index]) << UInt64(filled)
            filled += bits
            while filled >= 8 {
                buffer.append(UInt8(truncatingIfNeeded: stream))
                stream >>= 8
                filled -= 8
            }
        }
    }
}
