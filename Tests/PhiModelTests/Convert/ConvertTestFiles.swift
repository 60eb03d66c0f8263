import Foundation
import TestSupport

@testable import PhiModel
@testable import PhiText

/// Writes GGUF files as the format's description says, apart from the code under test.
struct TestGGUF {
    enum Value {
        case uint32(UInt32)
        case float32(Float)
        case bool(Bool)
        case string(String)
        case strings([String])
        case int32s([Int32])
        case float32s([Float])
    }

    var version: UInt32 = 3
    var alignment = 32
    var metadata: [(String, Value)] = []
    var tensors: [(name: String, type: UInt32, sizes: [Int], bytes: [UInt8])] = []

    mutating func set(_ key: String, _ value: Value?) {
        metadata.removeAll { $0.0 == key }
        if let value { metadata.append((key, value)) }
    }

    /// `rows` nil is a vector.
    mutating func add(_ name: String, _ type: GGMLType, rows: Int?, columns: Int, _ bytes: [UInt8]) {
        tensors.removeAll { $0.name == name }
        tensors.append((name, type.rawValue, [columns] + (rows.map { [$0] } ?? []), bytes))
    }

    /// Bytes in front of the tensors' data.
    private(set) var headerSize = 0

    mutating func bytes() -> [UInt8] {
        var out = Array("GGUF".utf8)
        func number<T: FixedWidthInteger>(_ value: T) -> [UInt8] {
            withUnsafeBytes(of: value.littleEndian) { Array($0) }
        }
        func text(_ string: String) -> [UInt8] { number(UInt64(string.utf8.count)) + Array(string.utf8) }
        out += number(version) + number(UInt64(tensors.count)) + number(UInt64(metadata.count))
        for (key, value) in metadata {
            out += text(key)
            switch value {
            case .uint32(let number_): out += number(UInt32(4)) + number(number_)
            case .float32(let float): out += number(UInt32(6)) + number(float.bitPattern)
            case .bool(let flag): out += number(UInt32(7)) + [flag ? 1 : 0]
            case .string(let string): out += number(UInt32(8)) + text(string)
            case .strings(let strings):
                out += number(UInt32(9)) + number(UInt32(8)) + number(UInt64(strings.count))
                for string in strings { out += text(string) }
            case .int32s(let numbers):
                out += number(UInt32(9)) + number(UInt32(5)) + number(UInt64(numbers.count))
                for element in numbers { out += number(element) }
            case .float32s(let numbers):
                out += number(UInt32(9)) + number(UInt32(6)) + number(UInt64(numbers.count))
                for element in numbers { out += number(element.bitPattern) }
            }
        }
        var offset = 0
        for tensor in tensors {
            out += text(tensor.name) + number(UInt32(tensor.sizes.count))
            for size in tensor.sizes { out += number(UInt64(size)) }
            out += number(tensor.type) + number(UInt64(offset))
            offset += (tensor.bytes.count + alignment - 1) / alignment * alignment
        }
        headerSize = out.count
        func pad() { out += [UInt8](repeating: 0, count: (alignment - out.count % alignment) % alignment) }
        for tensor in tensors {
            pad()
            out += tensor.bytes
        }
        return out
    }
}

/// A matrix of random values in one of GGUF's types: the bytes, and the exact values they stand for.
struct TestMatrix {
    let type: GGMLType
    let columns: Int
    /// By row.
    var bytes: [[UInt8]]
    var values: [[Float]]

    init(_ type: GGMLType, rows: Int, columns: Int, random: inout FixedRandom, scale: Float? = nil) {
        self.type = type
        self.columns = columns
        bytes = []
        values = []
        for _ in 0..<rows {
            var (rowBytes, rowValues): ([UInt8], [Float]) = ([], [])
            for _ in 0..<(columns / type.blockLength) {
                let block = Self.block(type, random: &random, scale: scale)
                rowBytes += block.bytes
                rowValues += block.values
            }
            bytes.append(rowBytes)
            values.append(rowValues)
        }
    }

    private static func half(_ value: Float) -> [UInt8] {
        let bits = HalfFloat.exactly(value) ?? 0x7E00
        return [UInt8(truncatingIfNeeded: bits), UInt8(bits >> 8)]
    }

    private static func block(
        _ type: GGMLType, random: inout FixedRandom, scale: Float?
    ) -> (bytes: [UInt8], values: [Float]) {
        let d = scale ?? Float(Int.random(in: -300...300, using: &random)) / 4096
        let m = Float(Int.random(in: -300...300, using: &random)) / 512
        func codes(_ top: UInt8) -> [UInt8] {
            (0..<32).map { _ in UInt8.random(in: 0...top, using: &random) }
        }
        func nibbles(_ codes: [UInt8]) -> [UInt8] {
            (0..<16).map { (codes[$0] & 15) | (codes[$0 + 16] & 15) << 4 }
        }
        func fifths(_ codes: [UInt8]) -> [UInt8] {
            (0..<4).map { byte in (0..<8).reduce(0) { $0 | (codes[8 * byte + $1] >> 4) << UInt8($1) } }
        }
        switch type {
        case .f32: return (withUnsafeBytes(of: m.bitPattern.littleEndian) { Array($0) }, [m])
        case .f16: return (half(m), [m])
        case .bf16: return ([0, UInt8(0x3F)], [0.5])
        case .q4Type0:
            let q = codes(15)
            return (half(d) + nibbles(q), q.map { d * (Float($0) - 8) })
        case .q4Type1:
            let q = codes(15)
            return (half(d) + half(m) + nibbles(q), q.map { d * Float($0) + m })
        case .q5Type0:
            let q = codes(31)
            return (half(d) + fifths(q) + nibbles(q), q.map { d * (Float($0) - 16) })
        case .q5Type1:
            let q = codes(31)
            return (half(d) + half(m) + fifths(q) + nibbles(q), q.map { d * Float($0) + m })
        case .q8Type0:
            let q = codes(255)
            return (half(d) + q, q.map { d * Float(Int8(bitPattern: $0)) })
        // Their blocks come from a fixture.
        default: return ([], [])
        }
    }
}

extension ScratchFolder {
    var output: String { path + "/converted" }

    /// Converts a file in this folder into `output`.
    @discardableResult
    func convert(
        _ gguf: TestGGUF, tokenizer: GGUFConverter.Tokenizer = .embedded, overwrite: Bool = true
    ) throws -> ConversionSummary {
        var gguf = gguf
        return try GGUFConverter.convert(
            file: write("model.gguf", gguf.bytes()), to: output, tokenizer: tokenizer, overwrite: overwrite)
    }
}

/// What a converted (or any MLX) layer stands for, value by value.
enum TestDequantizer {
    static func values(_ linear: LinearTensors) throws -> [[Float]] {
        let (rows, columns) = (linear.rows, linear.columns)
        guard let quantization = linear.quantization else {
            let all = try linear.weight.floats()
            return (0..<rows).map { Array(all[($0 * columns)..<(($0 + 1) * columns)]) }
        }
        let (scales, biases) = (try quantization.scales.floats(), try quantization.biases.floats())
        let (size, bits) = (quantization.parameters.groupSize, quantization.parameters.bits)
        let bytes = linear.weight.withBytes { Array($0) }
        return (0..<rows).map { row in
            (0..<columns).map { column in
                var code = 0
                for bit in 0..<bits {
                    let place = (row * columns + column) * bits + bit
                    code |= Int(bytes[place / 8] >> UInt8(place % 8) & 1) << bit
                }
                let group = row * (columns / size) + column / size
                return scales[group] * Float(code) + biases[group]
            }
        }
    }
}

/// A whole tiny model, as a GGUF file and as the matrices a Phi-3 checkpoint of it must hold.
struct TestModel {
    static let (hidden, heads, kvHeads, head, wide, vocabulary, layers) = (64, 4, 2, 16, 96, 40, 2)

    var gguf = TestGGUF()
    /// By path.
    var expected: [String: [[Float]]] = [:]

    /// - Parameter types: of embedding, q, k, v, o, gate, up, down, in turn.
    init(llama types: [GGMLType], tied: Bool = true, scale: Float? = nil, seed: UInt64 = 5) {
        var random = FixedRandom(seed)
        addMetadata("llama")
        func matrix(_ index: Int, _ rows: Int, _ columns: Int) -> TestMatrix {
            TestMatrix(types[index], rows: rows, columns: columns, random: &random, scale: scale)
        }
        func vector() -> TestMatrix { TestMatrix(.f32, rows: 1, columns: Self.hidden, random: &random) }
        add("token_embd", "model.embed_tokens", [matrix(0, Self.vocabulary, Self.hidden)])
        for layer in 0..<Self.layers {
            let (from, to) = ("blk.\(layer).", "model.layers.\(layer).")
            let (q, kv) = (Self.heads * Self.head, Self.kvHeads * Self.head)
            let attention = [
                matrix(1, q, Self.hidden), matrix(2, kv, Self.hidden), matrix(3, kv, Self.hidden),
            ]
            let interleaved = [Self.interleaved(attention[0]), Self.interleaved(attention[1]), attention[2]]
            for (name, part) in zip(["attn_q", "attn_k", "attn_v"], interleaved) {
                addSource(from + name, part)
            }
            expected[to + "self_attn.qkv_proj"] = attention.flatMap(\.values)
            add(from + "attn_output", to + "self_attn.o_proj", [matrix(4, Self.hidden, q)])
            let (gate, up) = (matrix(5, Self.wide, Self.hidden), matrix(6, Self.wide, Self.hidden))
            addSource(from + "ffn_gate", gate)
            addSource(from + "ffn_up", up)
            expected[to + "mlp.gate_up_proj"] = gate.values + up.values
            add(from + "ffn_down", to + "mlp.down_proj", [matrix(7, Self.hidden, Self.wide)])
            add(from + "attn_norm", to + "input_layernorm", [vector()], isVector: true)
            add(from + "ffn_norm", to + "post_attention_layernorm", [vector()], isVector: true)
        }
        add("output_norm", "model.norm", [vector()], isVector: true)
        if !tied { add("output", "lm_head", [matrix(0, Self.vocabulary, Self.hidden)]) }
    }

    /// A phi3 file: fused matrices of one type, partial rotation, longrope.
    init(phi3 type: GGMLType) {
        var random = FixedRandom(9)
        addMetadata("phi3")
        func matrix(_ rows: Int, _ columns: Int) -> TestMatrix {
            TestMatrix(type, rows: rows, columns: columns, random: &random)
        }
        func vector() -> TestMatrix { TestMatrix(.f32, rows: 1, columns: Self.hidden, random: &random) }
        add("token_embd", "model.embed_tokens", [matrix(Self.vocabulary, Self.hidden)])
        add("output", "lm_head", [matrix(Self.vocabulary, Self.hidden)])
        for layer in 0..<Self.layers {
            let (from, to) = ("blk.\(layer).", "model.layers.\(layer).")
            add(from + "attn_qkv", to + "self_attn.qkv_proj", [matrix(8 * Self.head, Self.hidden)])
            add(from + "attn_output", to + "self_attn.o_proj", [matrix(Self.hidden, Self.hidden)])
            add(from + "ffn_up", to + "mlp.gate_up_proj", [matrix(2 * Self.wide, Self.hidden)])
            add(from + "ffn_down", to + "mlp.down_proj", [matrix(Self.hidden, Self.wide)])
            add(from + "attn_norm", to + "input_layernorm", [vector()], isVector: true)
            add(from + "ffn_norm", to + "post_attention_layernorm", [vector()], isVector: true)
        }
        add("output_norm", "model.norm", [vector()], isVector: true)
        gguf.set("phi3.rope.dimension_count", .uint32(12))
        gguf.set("phi3.context_length", .uint32(8192))
        gguf.set("phi3.rope.scaling.original_context_length", .uint32(4096))
        gguf.set("phi3.attention.sliding_window", .uint32(2047))
        for (name, factor) in [("short", Float(1.1)), ("long", 40.5)] {
            let bytes = withUnsafeBytes(of: factor.bitPattern.littleEndian) { Array($0) }
            gguf.add(
                "rope_factors_\(name).weight", .f32, rows: nil, columns: 6,
                Array([[UInt8]](repeating: bytes, count: 6).joined()))
        }
    }

    private mutating func addMetadata(_ name: String) {
        let numbers: [(String, Int)] = [
            ("block_count", Self.layers), ("context_length", 512), ("embedding_length", Self.hidden),
            ("feed_forward_length", Self.wide), ("attention.head_count", Self.heads),
            ("attention.head_count_kv", Self.kvHeads), ("vocab_size", Self.vocabulary),
        ]
        gguf.set("general.architecture", .string(name))
        for (key, value) in numbers { gguf.set("\(name).\(key)", .uint32(UInt32(value))) }
        gguf.set("\(name).attention.layer_norm_rms_epsilon", .float32(1e-5))
        gguf.set("\(name).rope.freq_base", .float32(50000))
        TestModel.addTokenizer(&gguf)
    }

    static func addTokenizer(_ gguf: inout TestGGUF) {
        let tokens = ["<|end|>", "<|start|>", "a", "b", "ab", "Ġ", "Ġab", "e\u{301}", "é", "\"\\", "<extra>"]
        gguf.set("tokenizer.ggml.model", .string("gpt2"))
        gguf.set("tokenizer.ggml.pre", .string("smollm"))
        gguf.set("tokenizer.ggml.tokens", .strings(tokens))
        gguf.set("tokenizer.ggml.token_type", .int32s([3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 4]))
        gguf.set("tokenizer.ggml.merges", .strings(["a b", "Ġ ab"]))
        gguf.set("tokenizer.ggml.bos_token_id", .uint32(1))
        gguf.set("tokenizer.ggml.eos_token_id", .uint32(0))
        gguf.set("tokenizer.ggml.add_bos_token", .bool(false))
        gguf.set("tokenizer.chat_template", .string("{{ 'line\n' }}\t\u{1}\"é"))
    }

    private mutating func addSource(_ name: String, _ matrix: TestMatrix, isVector: Bool = false) {
        gguf.add(
            name + ".weight", matrix.type, rows: isVector ? nil : matrix.bytes.count, columns: matrix.columns,
            Array(matrix.bytes.joined()))
    }

    private mutating func add(_ name: String, _ path: String, _ parts: [TestMatrix], isVector: Bool = false) {
        for part in parts { addSource(name, part, isVector: isVector) }
        expected[path] = parts.flatMap(\.values)
    }

    /// Rows as llama's converter stores them: of each head, row i of the first half, row i of the second.
    private static func interleaved(_ matrix: TestMatrix) -> TestMatrix {
        var result = matrix
        for first in stride(from: 0, to: matrix.bytes.count, by: head) {
            for pair in 0..<(head / 2) {
                for half in 0..<2 {
                    result.bytes[first + 2 * pair + half] = matrix.bytes[first + half * (head / 2) + pair]
                }
            }
        }
        return result
    }
}
