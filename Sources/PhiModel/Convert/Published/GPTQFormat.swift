/// GPTQ's layers as AutoGPTQ and GPTQModel pack them (https://github.com/ModelCloud/GPTQModel): I32 words
/// [columns / codes, rows] for the weights and [groups, rows / codes] for the zeros, value = (code - zero) * scale.
///
/// In format "gptq" 1 was subtracted from each zero. As GPTQModel does, it is added to whole words: an overflow of one
/// zero goes into the next, as the borrow did when they were written.
struct GPTQFormat: PublishedFormat {
    let name = "GPTQ"
    let ends = [".qweight", ".qzeros", ".scales", ".g_idx"]
    private let bits: Int
    private let isFirstVersion: Bool

    init(_ config: ConfigReader) throws {
        bits = try config.integer("bits", 1...64)
        guard [2, 4, 8].contains(bits) else {
            throw config.fault(.unsupported, "bits", "is \(bits); GPTQ with 2, 4 and 8 bits is read")
        }
        let format =
            try config.optionalString("checkpoint_format") ?? config.optionalString("format") ?? "gptq"
        guard ["gptq", "gptq_v2"].contains(format) else {
            throw config.fault(
                .unsupported, "checkpoint_format", "is \"\(format)\"; \"gptq\" and \"gptq_v2\" are read")
        }
        isFirstVersion = format == "gptq"
        if try config.optionalBool("is_marlin_format") == true {
            throw config.fault(
                .unsupported, "is_marlin_format", "is true; weights packed for it are not read")
        }
        let type = try config.optionalString("pack_dtype") ?? "int32"
        guard type == "int32" else {
            throw config.fault(.unsupported, "pack_dtype", "is \"\(type)\"; \"int32\" is read")
        }
    }

    func matrix(_ tensors: LayerTensors) throws -> PublishedMatrix {
        let (height, rows) = try tensors.size(".qweight")
        let bits = UInt32(bits)
        let perWord = 32 / self.bits
        let mask = UInt32(1) << bits - 1
        let columns = height * perWord
        let count = try tensors.size(".scales").rows
        let weight = try tensors.words(".qweight", shape: [height, rows])
        guard rows % perWord == 0 else {
            throw try tensors.tensor(".qweight").fault(
                .malformed, "has \(rows) rows, whose zeros fill no whole words.")
        }
        let width = rows / perWord
        let zeros = try tensors.words(".qzeros", shape: [count, width])
        let (scales, type) = try tensors.turnedScales(".scales", count, rows: rows)
        let order = try tensors.order(".g_idx", columns: columns, count: count)
        // 0x11111111 of 4 bits.
        let ones = isFirstVersion ? UInt32.max / mask : 0
        return PublishedMatrix(
            shape: [rows, columns], bits: self.bits,
            run: try order == nil ? tensors.run(columns: columns, scales: count, ".scales") : 1,
            scales: scales,
            zeros: zeros.use { word in
                (0..<rows * count).map { index in
                    let (row, group) = index.quotientAndRemainder(dividingBy: count)
                    let all = word(group * width + row / perWord) &+ ones
                    return UInt8(all >> (bits * UInt32(row % perWord)) & mask)
                }
            },
            order: order, floats: type,
            codes: { row, codes in
                weight.use { word in
                    for column in 0..<columns {
                        let all = word(column / perWord * rows + row)
                        codes[column] = UInt8(all >> (bits * UInt32(column % perWord)) & mask)
                    }
                }
            })
    }
}
