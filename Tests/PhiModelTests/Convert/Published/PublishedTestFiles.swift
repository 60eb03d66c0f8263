import Foundation
import JSON
import Testing

@testable import PhiModel

/// A matrix as another program publishes it, and the values that its own library gives (Fixtures/make_published.py).
struct PublishedExample: Sendable, CustomTestStringConvertible {
    let name: String
    /// What config.json says.
    var config: JSONObject
    /// By the ends of their names.
    var tensors: [String: SyntheticCheckpoint.Tensor]
    /// [rows][columns]
    let values: [[Float]]
    let floats: TensorType
    /// The bits of a code, once it is converted.
    let bits: Int
    var testDescription: String { name }

    /// Those whose values are quantized anew, in 8 bits.
    var isLossy: Bool { name.contains("another order") }

    static func all() throws -> [PublishedExample] {
        guard
            case .array(let cases) = try JSONValue.parse(
                Data(contentsOf: TestFolder.fixture("published.json")))
        else { return [] }
        return cases.compactMap(Self.init)
    }

    private init?(_ json: JSONValue) {
        guard case .string(let name)? = json["name"], case .object(let config)? = json["config"],
            case .object(let tensors)? = json["tensors"], case .int(let bits)? = json["bits"],
            let values = json["values"].flatMap({ Self.tensor("", $0) })
        else { return nil }
        (self.name, self.config, self.bits) = (name, config, bits)
        self.tensors = Dictionary(
            tensors.compactMap { member in Self.tensor(member.name, member.value).map { (member.name, $0) } }
        ) { first, _ in first }
        floats = TensorType(name: values.type)
        let columns = values.shape[1]
        let all = Self.floats(values)
        self.values = stride(from: 0, to: all.count, by: columns).map { Array(all[$0..<$0 + columns]) }
    }

    private static func tensor(_ name: String, _ json: JSONValue) -> SyntheticCheckpoint.Tensor? {
        guard case .string(let type)? = json["type"], case .array(let shape)? = json["shape"],
            case .string(let hex)? = json["hex"]
        else { return nil }
        let digits = Array(hex.utf8).map { UInt8($0 < 0x3A ? $0 - 0x30 : $0 - 0x57) }
        return SyntheticCheckpoint.Tensor(
            name: name, type: type,
            shape: shape.compactMap { if case .int(let size) = $0 { size } else { nil } },
            data: Data(stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }))
    }

    private static func floats(_ tensor: SyntheticCheckpoint.Tensor) -> [Float] {
        let bytes = [UInt8](tensor.data)
        if tensor.type == "F32" {
            return stride(from: 0, to: bytes.count, by: 4).map { place in
                Float(bitPattern: (0..<4).reduce(0) { $0 | UInt32(bytes[place + $1]) << UInt32(8 * $1) })
            }
        }
        return stride(from: 0, to: bytes.count, by: 2).map { place in
            let bits = UInt16(bytes[place]) | UInt16(bytes[place + 1]) << 8
            return tensor.type == "BF16" ? Float(bitPattern: UInt32(bits) << 16) : HalfFloat.widen(bits)
        }
    }

    /// config.json of a Phi-3 model, which has other layers, but nobody asks.
    private static let model = """
        {"model_type": "phi3", "hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2, \
        "num_key_value_heads": 2, "intermediate_size": 64, "vocab_size": 32, "rms_norm_eps": 1e-5, \
        "max_position_embeddings": 64, "original_max_position_embeddings": 64, "tie_word_embeddings": true
        """

    /// A folder with this matrix as the layer "model.layers.0.mlp.down_proj".
    func write(to folder: ScratchFolder) throws {
        let members = config.map { "\"\($0.name)\": \($0.value.indentedText)" }.joined(separator: ",")
        try folder.write("config.json", Self.model + "," + members + "}")
        let named = tensors.map { end, tensor in
            var tensor = tensor
            tensor.name = Self.layer + end
            return tensor
        }
        let norm = SyntheticCheckpoint.Tensor(
            name: "model.norm.weight", type: "F16", shape: [2], data: Data([0, 0x3C, 0, 0x40]))
        try folder.write(
            "model.safetensors",
            [UInt8](SyntheticCheckpoint.safetensors((named + [norm]).sorted { $0.name < $1.name })))
    }

    static let layer = "model.layers.0.mlp.down_proj"
}
