import Foundation
import Testing

@testable import PhiModel

struct Lfm2ConfigurationTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    /// The keys of LFM2-350M.
    private static let base = [
        "model_type": "\"lfm2\"", "block_auto_adjust_ff_dim": "true", "block_ff_dim": "6656",
        "block_ffn_dim_multiplier": "1.0", "block_multiple_of": "256", "bos_token_id": "1",
        "conv_L_cache": "3", "conv_bias": "false", "eos_token_id": "7",
        "full_attn_idxs": "[2, 5, 8, 10, 12, 14]", "hidden_size": "1024",
        "max_position_embeddings": "128000", "norm_eps": "1e-05", "num_attention_heads": "16",
        "num_hidden_layers": "16", "num_key_value_heads": "8", "pad_token_id": "0",
        "rope_theta": "1000000.0", "vocab_size": "65536",
    ]

    /// The base with `changes` (nil takes a key away).
    private func configuration(_ changes: [String: String?] = [:]) throws -> Lfm2 {
        var members = Self.base
        for (key, value) in changes { members[key] = value }
        let text = members.map { "\"\($0.key)\": \($0.value)" }.joined(separator: ",\n")
        try scratch.write("config.json", "{\(text)}")
        return try #require(try Architectures.read(folder: scratch.path) as? Lfm2)
    }

    @Test func thePublishedModelIsRead() throws {
        let model = try configuration()
        #expect(model.intermediateSize == 4608 && model.tiedEmbeddings && model.convolutionLength == 3)
        let attentions = model.shape.layers.indices.filter { model.shape.layers[$0].headCount > 0 }
        #expect(attentions == [2, 5, 8, 10, 12, 14] && model.shape.hasState)
        #expect(model.shape.attention.headDimension == 64 && model.shape.attention.keyWidth == 512)
        #expect(model.shape.layers[0].stateWidth == 2048 && model.shape.layers[2].stateWidth == 0)
        let types = (0..<16).map { $0 == 3 ? "\"full_attention\"" : "\"conv\"" }.joined(separator: ",")
        let named = try configuration(["layer_types": "[\(types)]", "block_auto_adjust_ff_dim": "false"])
        #expect(named.intermediateSize == 6656 && named.shape.layers.map(\.headCount).max() == 16)
        #expect(named.shape.layers[3].headCount == 16 && named.shape.layers[2].headCount == 0)
        #expect(!(try configuration(["full_attn_idxs": nil]).shape.hasState), "attention everywhere")
    }

    @Test(arguments: [
        ("conv_bias", "true", "\"conv_bias\" is true"),
        ("conv_L_cache", "1", "\"conv_L_cache\" is 1"),
        ("full_attn_idxs", "[16]", "\"full_attn_idxs[0]\" is no whole number from 0 to 15"),
        ("layer_types", "[\"conv\"]", "\"layer_types\" has 1 entries"),
    ])
    func whatIsNotSupportedIsNamed(key: String, value: String, message: String) {
        let error = #expect(throws: ModelError.self) { try configuration([key: value]) }
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    }
}
