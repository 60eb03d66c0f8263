extension PlannedLayer: RowSource {
    var rows: Int { parts.reduce(0) { $0 + $1.count } }
    var rowSize: Int { parts.map(\.tensor.rowSize).max() ?? 0 }

    func converted(_ rows: Range<Int>) -> [[UInt8]] {
        var bytes = outputs.map { output in
            var bytes: [UInt8] = []
            bytes.reserveCapacity(output.byteCount / self.rows * rows.count)
            return bytes
        }
        var first = 0
        for (part, sums) in zip(parts, squares) {
            let own = rows.clamped(to: first..<first + part.count)
            var squares = ConversionLoss.Squares()
            for row in own {
                RowEncoder.append(part.bytes(of: row - first), part.tensor.type, of: self, &bytes, &squares)
            }
            if !own.isEmpty { sums.add(squares, own.lowerBound) }
            first += part.count
        }
        return bytes
    }

    var bits: Int? { parameters?.bits ?? (parts[0].tensor.isVector ? nil : 0) }

    var losses: [ConversionLoss] {
        guard let bits = parameters?.bits else { return [] }
        return zip(parts, squares).filter { !$0.0.tensor.type.isLossless }.map {
            ConversionLoss(type: $0.tensor.type.name, bits: bits, matrices: 1, squares: $1.all)
        }
    }
}

/// Turns rows of a GGUF file into the bytes of the tensors that they become.
enum RowEncoder {
    /// - Parameter outputs: the layer's tensors: weight, scales and biases, or the weight alone.
    fileprivate static func append(
        _ row: UnsafeRawBufferPointer, _ type: GGMLType, of layer: PlannedLayer,
        _ outputs: inout [[UInt8]], _ squares: inout ConversionLoss.Squares
    ) {
        if let bits = layer.parameters?.bits {
            withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 32) { codes in
                guard let base = codes.baseAddress else { return }
                for offset in stride(from: 0, to: row.count, by: type.blockSize) {
                    for group in 0..<type.groupsPerBlock {
                        QuantizedBlock.codes(row, at: offset, group: group, type: type, into: base)
                        append(base, bits: bits, to: &outputs[0])
                        let (scale, bias) = QuantizedBlock.affine(row, at: offset, group: group, type: type)
                        append(scale, as: layer.floats, to: &outputs[1])
                        append(bias, as: layer.floats, to: &outputs[2])
                        guard !type.isLossless else { continue }
                        withUnsafeTemporaryAllocation(of: Float.self, capacity: 32) { values in
                            guard let start = values.baseAddress else { return }
                            SixBitBlock.values(row, at: offset, group: group, into: start)
                            for (value, code) in zip(values, codes) {
                                squares.add(value, is: scale * Float(code) + bias)
                            }
                        }
                    }
                }
            }
        } else if layer.floats != .f32 || type == .f32 {
            outputs[0].append(contentsOf: row)  // The source has the target's type.
        } else {
            for offset in stride(from: 0, to: row.count, by: 2) {
                let bits = UInt16(littleEndian: row.loadUnaligned(fromByteOffset: offset, as: UInt16.self))
                let value = type == .bf16 ? Float(bitPattern: UInt32(bits) << 16) : HalfFloat.widen(bits)
                append(value, as: .f32, to: &outputs[0])
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

    /// Appends 32 codes, the first one lowest. As they fill whole words, a row is one little-endian bit stream.
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
