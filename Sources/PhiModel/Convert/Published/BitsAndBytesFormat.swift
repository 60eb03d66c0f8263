import JSON

/// Weights of bitsandbytes (https://github.com/bitsandbytes-foundation/bitsandbytes): NF4 and FP4, whose codes stand for
/// 16 levels that the file holds, scaled for each block of values; and 8 bits with a scale for each row.
struct BitsAndBytesFormat: PublishedFormat {
    let name: String
    let ends: [String]
    private let isFourBits: Bool

    init(_ config: ConfigReader) throws {
        isFourBits = try config.optionalBool("load_in_4bit") ?? false
        guard try config.optionalBool("load_in_8bit") ?? false != isFourBits else {
            throw config.fault(
                .malformed, "load_in_4bit", "and \"load_in_8bit\" must be true and false, or the other way")
        }
        let type = try config.optionalString("bnb_4bit_quant_type") ?? "fp4"
        name = isFourBits ? type.uppercased() : "LLM.int8"
        ends =
            isFourBits
            ? [
                ".weight.absmax", ".weight", ".weight.quant_map", ".weight.nested_absmax",
                ".weight.nested_quant_map", Self.state("nf4"), Self.state("fp4"),
            ]
            : [".SCB", ".weight", ".weight_format"]
    }

    private static func state(_ type: String) -> String { ".weight.quant_state.bitsandbytes__\(type)" }

    func matrix(_ tensors: LayerTensors) throws -> PublishedMatrix {
        isFourBits ? try fourBits(tensors) : try eightBits(tensors)
    }

    /// value = code * scale / 127
    private func eightBits(_ tensors: LayerTensors) throws -> PublishedMatrix {
        let (rows, columns) = try tensors.size(".weight")
        let weight = try tensors.tensor(".weight", types: [.i8], shape: [rows, columns])
        let scales = try tensors.tensor(".SCB", types: [.f32], shape: [rows]).finiteFloats()
        return PublishedMatrix(
            shape: [rows, columns], bits: 8, run: columns, scales: scales.map { $0 / 127 }, zeros: [128],
            floats: .f32,
            codes: { row, codes in
                weight.withBytes { bytes in
                    for column in 0..<columns { codes[column] = bytes[row * columns + column] ^ 0x80 }
                }
            })
    }

    private func fourBits(_ tensors: LayerTensors) throws -> PublishedMatrix {
        guard let end = ["nf4", "fp4"].map(Self.state).first(where: tensors.has) else {
            throw try tensors.tensor(".weight.absmax").fault(
                .malformed, "has no tensor \"\(tensors.path)\(Self.state("nf4"))\" beside it.")
        }
        let state = try BlockState(tensors.tensor(end))
        let weight = try tensors.tensor(".weight")
        let count = state.shape.reduce(1, *)
        guard weight.type == .u8, weight.count == (count + 1) / 2 else {
            throw weight.fault(
                .malformed,
                "has shape \(weight.shape) of \(weight.type); \((count + 1) / 2) bytes of U8 are expected.")
        }
        let levels = try tensors.tensor(".weight.quant_map", types: [.f32], shape: [16]).finiteFloats()
        let columns = state.shape[1]
        return PublishedMatrix(
            shape: state.shape, bits: 4, run: state.blockSize,
            scales: try scales(tensors, state, count: (count + state.blockSize - 1) / state.blockSize),
            zeros: [0], levels: levels, floats: state.type,
            codes: { row, codes in
                weight.withBytes { bytes in
                    // The first of two is in the high half.
                    for column in 0..<columns {
                        let index = row * columns + column
                        codes[column] = index % 2 == 0 ? bytes[index / 2] >> 4 : bytes[index / 2] & 0xF
                    }
                }
            })
    }

    /// The largest magnitude of each block; quantized itself in "double quantization".
    private func scales(_ tensors: LayerTensors, _ state: BlockState, count: Int) throws -> [Float] {
        let end = ".weight.absmax"
        guard let nested = state.nested else {
            return try tensors.tensor(end, types: [.f32], shape: [count]).finiteFloats()
        }
        let codes = try tensors.tensor(end, types: [.u8], shape: [count])
        let levels = try tensors.tensor(".weight.nested_quant_map", types: [.f32], shape: [256])
            .finiteFloats()
        let blocks = (count + nested.blockSize - 1) / nested.blockSize
        let scales = try tensors.tensor(".weight.nested_absmax", types: [.f32], shape: [blocks])
            .finiteFloats()
        return codes.withBytes { bytes in
            (0..<count).map {
                levels[Int(bytes[$0])] * scales[$0 / nested.blockSize] + nested.offset
            }
        }
    }
}

/// The JSON that bitsandbytes keeps in a tensor of bytes: what a layer's blocks are.
private struct BlockState {
    let shape: [Int]
    let blockSize: Int
    let type: TensorType
    let nested: (blockSize: Int, offset: Float)?

    init(_ tensor: TensorView) throws {
        func fault(_ key: String) -> ModelError {
            tensor.fault(.malformed, "is no description of a layer's blocks: \"\(key)\" is missing or wrong.")
        }
        guard tensor.type == .u8,
            case .object(let members)? = try? JSONValue(
                parsing: tensor.withBytes { [UInt8]($0) }, limits: .file)
        else { throw fault("{") }
        func integers(_ key: String) throws -> [Int] {
            let list = if case .array(let list)? = members[key] { list } else { [members[key] ?? .null] }
            let numbers = list.compactMap {
                if case .int(let number) = $0, number > 0 { number } else { nil }
            }
            guard numbers.count == list.count, numbers.allSatisfy({ $0 <= 1 << 31 }) else { throw fault(key) }
            return numbers
        }
        shape = try integers("shape")
        guard shape.count == 2 else { throw fault("shape") }
        blockSize = try integers("blocksize")[0]
        switch members["dtype"] {
        case "bfloat16": type = .bf16
        case "float16": type = .f16
        case "float32": type = .f32
        default: throw fault("dtype")
        }
        guard members["nested_blocksize"] ?? .null != .null else {
            nested = nil
            return
        }
        guard let offset = members["nested_offset"]?.number, offset.isFinite else {
            throw fault("nested_offset")
        }
        nested = (try integers("nested_blocksize")[0], Float(offset))
    }
}
