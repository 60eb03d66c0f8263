import Foundation
import Testing

@testable import PhiModel

struct PhiMoEConfigurationTests {
    private static func scaling(
        short: String? = "1.243163121016122", long: String? = "1.25", more: String = ""
    )
        -> String
    {
        let factors = "[" + Array(repeating: "1.5", count: 64).joined(separator: ", ") + "]"
        let scales = [("short_mscale", short), ("long_mscale", long)].compactMap { key, value in
            value.map { "\"\(key)\": \($0), " }
        }.joined()
        return "{\"type\": \"longrope\", \"original_max_position_embeddings\": 4096, \(scales)\(more)"
            + "\"short_factor\": \(factors), \"long_factor\": \(factors)}"
    }

    /// The keys of the published model.
    private static let base = [
        "model_type": "\"phimoe\"", "hidden_size": "4096", "num_hidden_layers": "32",
        "num_attention_heads": "32", "num_key_value_heads": "8", "intermediate_size": "6400",
        "vocab_size": "32064", "max_position_embeddings": "131072", "hidden_act": "\"silu\"",
        "original_max_position_embeddings": "4096", "rms_norm_eps": "1e-05", "rope_theta": "10000.0",
        "rope_scaling": scaling(), "sliding_window": "131072", "attention_bias": "true",
        "lm_head_bias": "true", "num_local_experts": "16", "num_experts_per_tok": "2",
        "router_jitter_noise": "0.01", "input_jitter_noise": "0.01", "tie_word_embeddings": "false",
        "bos_token_id": "1", "eos_token_id": "32000",
    ]

    /// The base with `changes` (nil takes a key away).
    private func configuration(_ changes: [String: String?] = [:]) throws -> PhiMoE {
        try #require(try architecture(Self.base, changes) as? PhiMoE)
    }

    @Test func thePublishedModelIsRead() throws {
        let model = try configuration()
        #expect(model.shape.attention.headDimension == 128 && model.shape.rope.dimension == 128)
        #expect(model.shape.attention.qkvWidth == 4096 + 2 * 1024 && model.intermediateSize == 6400)
        #expect(model.shape.attention.slidingWindow == nil, "as long as the context")
        #expect(model.expertCount == 16 && model.mixer == SparseMixer(jitter: 0.01))
        #expect(model.attentionBias && model.headBias && model.normEpsilon == 1e-5)
        let rope = model.shape.rope
        #expect(rope.factors.magnitude == 1.243163121016122 && rope.longFactors?.magnitude == 1.25)
        #expect(rope.shortLength == 4096)
    }

    /// microsoft/Phi-tiny-MoE-instruct: heads of their own size, a window, and no scaling.
    @Test func aSlimOneIsRead() throws {
        let model = try configuration([
            "num_attention_heads": "16", "num_key_value_heads": "4", "head_dim": "128",
            "sliding_window": "2047",
            "intermediate_size": "448", "max_position_embeddings": "4096", "rope_scaling": nil,
            "original_max_position_embeddings": nil,
        ])
        let attention = model.shape.attention
        #expect(attention.queryWidth == 2048 && attention.keyWidth == 512 && attention.slidingWindow == 2047)
        #expect(model.shape.rope == Rope(dimension: 128, theta: 10000))
        #expect(model.shape.hiddenSize == 4096 && model.expertCount == 16)
    }

    /// As in Hugging Face's class.
    @Test func defaultsAreThoseOfTheType() throws {
        let model = try configuration([
            "attention_bias": nil, "lm_head_bias": nil, "num_local_experts": nil, "num_experts_per_tok": nil,
            "router_jitter_noise": nil, "rope_theta": nil, "rope_scaling": "null", "sliding_window": "2047",
        ])
        #expect(!model.attentionBias && !model.headBias && model.expertCount == 16)
        #expect(model.mixer == SparseMixer(jitter: 0.01) && model.shape.rope.theta == 1e6)
        #expect(model.shape.rope.factors == Rope.Factors() && model.shape.attention.slidingWindow == 2047)
    }

    @Test(arguments: [
        ("hidden_act", "\"gelu\"", "\"hidden_act\" is \"gelu\""),
        ("tie_word_embeddings", "true", "\"tie_word_embeddings\" is true"),
        ("num_experts_per_tok", "3", "\"num_experts_per_tok\" is 3; only models with 2"),
        ("num_local_experts", "1", "\"num_local_experts\" is 1; 2 to 1024"),
        ("num_local_experts", "9223372036854775807", "\"num_local_experts\" is 9223372036854775807"),
        ("router_jitter_noise", "-0.01", "\"router_jitter_noise\" is -0.01"),
        ("attention_bias", "1", "\"attention_bias\" is a number; true or false"),
        ("rope_scaling", scaling(short: nil), "\"rope_scaling.short_mscale\" is missing"),
        ("rope_scaling", scaling(long: nil), "\"rope_scaling.long_mscale\" is missing"),
        ("rope_scaling", scaling(long: "0"), "\"rope_scaling.long_mscale\" is 0"),
        ("rope_scaling", scaling(more: "\"attention_factor\": 1.19, "), "\"rope_scaling.attention_factor\""),
    ])
    func whatIsNotSupportedIsNamed(key: String, value: String, message: String) {
        expectRefusal(Self.base, [key: value], message)
    }
}
