import Foundation
import Testing

@testable import PhiModel

struct Phi2ConfigurationTests {
    /// The keys of the published model.
    private static let base = [
        "model_type": "\"phi\"", "hidden_size": "2560", "num_hidden_layers": "32",
        "num_attention_heads": "32", "num_key_value_heads": "32", "intermediate_size": "10240",
        "vocab_size": "51200", "max_position_embeddings": "2048", "hidden_act": "\"gelu_new\"",
        "layer_norm_eps": "1e-05", "partial_rotary_factor": "0.4", "qk_layernorm": "false",
        "rope_scaling": "null", "rope_theta": "10000.0", "tie_word_embeddings": "false",
        "bos_token_id": "50256", "eos_token_id": "50256",
    ]

    /// The base with `changes` (nil takes a key away).
    private func configuration(_ changes: [String: String?] = [:]) throws -> any Architecture {
        try architecture(Self.base, changes)
    }

    @Test func thePublishedModelIsRead() throws {
        let model = try #require(try configuration() as? Phi2)
        #expect(model.shape.attention.headDimension == 80 && model.shape.rope.dimension == 32)
        #expect(model.shape.attention.qkvWidth == 3 * 2560 && model.intermediateSize == 10240)
        #expect(model.shape.endOfSequence == [50256] && model.normEpsilon == 1e-5)
        #expect(model.shape.rope.factors == Rope.Factors())
        // Defaults are the type's, where a file does not say.
        let bare = try configuration(["partial_rotary_factor": nil, "num_key_value_heads": nil])
        #expect(bare.shape.rope.dimension == 40 && bare.shape.attention.keyValueHeadCount == 32)
    }

    /// It has the same form, with the keys of microsoft/phi-1.
    @Test func thatOfPhi1IsRead() throws {
        let model = try #require(
            try configuration([
                "hidden_size": "2048", "num_hidden_layers": "24", "intermediate_size": "8192",
                "num_key_value_heads": "null", "partial_rotary_factor": "0.5", "eos_token_id": "null",
                "bos_token_id": "null",
            ]) as? Phi2)
        #expect(model.shape.attention.headDimension == 64 && model.shape.rope.dimension == 32)
        #expect(model.shape.attention.keyValueHeadCount == 32 && model.shape.layerCount == 24)
        #expect(model.shape.endOfSequence.isEmpty)
    }

    @Test(arguments: [
        ("hidden_act", "\"silu\"", "\"gelu_new\" and \"gelu_pytorch_tanh\" are supported"),
        ("qk_layernorm", "true", "\"qk_layernorm\" is true"),
        ("tie_word_embeddings", "true", "\"tie_word_embeddings\" is true"),
        ("layer_norm_eps", "2", "\"layer_norm_eps\" is 2"),
        ("model_type", "\"phi9\"", "\"phi\" (Phi-1, Phi-1.5 and Phi-2)"),
        ("model_type", "\"phi-msft\"", "is \"phi-msft\"; supported"),
    ])
    func whatIsNotSupportedIsNamed(key: String, value: String, message: String) {
        expectRefusal(Self.base, [key: value], message)
    }
}
