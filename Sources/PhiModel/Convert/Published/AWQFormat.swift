/// AWQ's layers as AutoAWQ packs them for its GEMM kernel (https://github.com/casper-hansen/AutoAWQ): I32 words
/// [columns, rows / 8] of eight 4-bit codes, value = (code - zero) * scale.
struct AWQFormat: PublishedFormat {
    let name = "AWQ"
    let ends = [".qweight", ".qzeros", ".scales"]

    /// Place in a word of the code of each of eight rows: even ones first.
    private static let places = [0, 4, 1, 5, 2, 6, 3, 7]

    init(_ config: ConfigReader) throws {
        let bits = try config.optionalInteger("bits", 1...64) ?? config.integer("w_bit", 1...64)
        guard bits == 4 else {
            throw config.fault(.unsupported, "bits", "is \(bits); AWQ with 4 bits is read")
        }
        let version = try config.optionalString("version") ?? "gemm"
        guard version.lowercased() == "gemm" else {
            throw config.fault(
                .unsupported, "version", "is \"\(version)\"; AWQ's version \"gemm\" is read")
        }
    }

    func matrix(_ tensors: LayerTensors) throws -> PublishedMatrix {
        let (columns, width) = try tensors.size(".qweight")
        let rows = 8 * width
        let count = try tensors.size(".scales").rows
        let weight = try tensors.words(".qweight", shape: [columns, width])
        let zeros = try tensors.words(".qzeros", shape: [count, width])
        let (scales, type) = try tensors.turnedScales(".scales", count, rows: rows)
        return PublishedMatrix(
            shape: [rows, columns], bits: 4,
            run: try tensors.run(columns: columns, scales: count, ".scales"), scales: scales,
            zeros: zeros.use { word in
                (0..<rows * count).map { index in
                    Self.code(word(index % count * width + index / count / 8), index / count)
                }
            },
            floats: type,
            codes: { row, codes in
                weight.use { word in
                    for column in 0..<columns {
                        codes[column] = Self.code(word(column * width + row / 8), row)
                    }
                }
            })
    }

    @inline(__always)
    private static func code(_ word: UInt32, _ row: Int) -> UInt8 {
        UInt8(word >> UInt32(4 * places[row % 8]) & 0xF)
    }
}
