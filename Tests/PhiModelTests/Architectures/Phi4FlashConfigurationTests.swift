import Foundation
import Testing

@testable import PhiModel

struct Phi4FlashConfigurationTests {
    /// The keys of Phi-4-mini-flash-reasoning.
    private static let base = [
        "model_type": "\"phi4flash\"", "attention_dropout": "0.0", "pad_token_id": "199999",
        "bos_token_id": "199999", "embd_pdrop": "0.0", "eos_token_id": "199999", "hidden_act": "\"silu\"",
        "hidden_size": "2560", "initializer_range": "0.02", "intermediate_size": "10240",
        "layer_norm_eps": "1e-5", "max_position_embeddings": "262144",
        "_attn_implementation": "\"flash_attention_2\"", "mb_per_layer": "2", "num_attention_heads": "40",
        "num_hidden_layers": "32", "num_key_value_heads": "20", "resid_pdrop": "0.0",
        "sliding_window": "512", "torch_dtype": "\"bfloat16\"", "tie_word_embeddings": "true",
        "use_cache": "true", "mlp_bias": "false", "lm_head_bias": "false", "vocab_size": "200064",
    ]

    /// The base with `changes` (nil takes a key away).
    private func configuration(_ changes: [String: String?] = [:]) throws -> Phi4Flash {
        try #require(try architecture(Self.base, changes) as? Phi4Flash)
    }

    @Test func thePublishedModelIsRead() throws {
        let model = try configuration()
        #expect(model.intermediateSize == 10240 && model.tiedEmbeddings && model.normEpsilon == 1e-5)
        #expect(model.scanWidth == 5120 && model.scanStates == 16 && model.scanRank == 160)
        #expect(model.convolutionLength == 4 && model.shape.rope.dimension == 0)
        let layers = model.shape.layers
        let states = model.shape.stateWidths
        #expect(states.indices.filter { states[$0] > 0 } == Array(stride(from: 0, through: 16, by: 2)))
        #expect(states[16] == (3 + 16) * 5120 && states.count == layers.count)
        #expect(
            layers.indices.filter { layers[$0].slidingWindow == 512 }
                == Array(stride(from: 1, through: 15, by: 2)))
        #expect(
            layers.indices.filter { layers[$0].headCount > 0 } == Array(stride(from: 1, through: 17, by: 2)))
        #expect(model.shape.attention.headDimension == 64 && model.shape.attention.keyWidth == 1280)
        #expect(layers[1].headDimension == 128 && layers[1].keyWidth == 1280)
        // The keys and values of one attention, of ten heads of 128 with scales; and those of eight in a ring of the
        // window, 512 rows at a time, and two blocks, with four states of nine scans.
        let keysAndValues = 10 * (64 * 2 * 128 + 4 * 128)
        #expect(KVCache.blockBytes(model.shape, .int8) == keysAndValues)
        let slot = 18 * 8 * keysAndValues + 4 * 9 * 19 * 5120 * 4
        #expect(KVCache.bytes(model.shape, .int8, tokens: 0) == slot)
        #expect(KVCache.bytes(model.shape, .int8, tokens: 65) == slot + 2 * keysAndValues)
        let own = try configuration(["mamba_dt_rank": "100", "tie_word_embeddings": "false"])
        #expect(own.scanRank == 100 && !own.tiedEmbeddings)
        #expect(try configuration(["mamba_dt_rank": "\"auto\""]) == model)
    }

    @Test(arguments: [
        ("mlp_bias", "true", "\"mlp_bias\" is true"),
        ("lm_head_bias", "true", "\"lm_head_bias\" is true"),
        ("mamba_conv_bias", "false", "\"mamba_conv_bias\" is false"),
        ("mamba_proj_bias", "true", "\"mamba_proj_bias\" is true"),
        ("hidden_act", "\"gelu\"", "\"hidden_act\" is \"gelu\""),
        ("num_hidden_layers", "30", "\"num_hidden_layers\" is 30; a multiple of 4"),
        ("mb_per_layer", "4", "\"mb_per_layer\" is not 2"),
        ("num_key_value_heads", "5", "\"num_key_value_heads\" is odd"),
        ("num_key_value_heads", nil, "\"num_key_value_heads\" is missing"),
        ("num_attention_heads", "4", "\"num_attention_heads\" makes pairs of heads of 1280 dimensions"),
        ("sliding_window", nil, "\"sliding_window\" is missing"),
        ("sliding_window", "[null, 512]", "\"sliding_window\" is a list"),
        ("rope_scaling", "{\"type\": \"longrope\"}", "\"rope_scaling\" is there"),
        ("layer_types", "[\"sliding_attention\"]", "\"layer_types\" does not say"),
        ("mamba_d_conv", "1", "\"mamba_d_conv\" is 1"),
    ])
    func whatIsNotSupportedIsNamed(key: String, value: String?, message: String) {
        // So that the heads are few enough.
        let heads = key == "num_attention_heads" ? ["num_key_value_heads": "4"] : [:]
        expectRefusal(Self.base, [key: value].merging(heads) { $1 }, message)
    }
}
