import Foundation
import Testing

@testable import PhiModel

/// What config.json says of Llama, Qwen2 and Qwen3.
struct LlamaConfigurationTests {
    /// The keys of published models: Llama-3.2-1B, Qwen2.5-0.5B-Instruct and Qwen3-0.6B.
    private static let published: [String: [String: String]] = [
        "llama": [
            "model_type": "\"llama\"", "attention_bias": "false", "bos_token_id": "128000",
            "eos_token_id": "[128001, 128008, 128009]", "head_dim": "64", "hidden_act": "\"silu\"",
            "hidden_size": "2048", "intermediate_size": "8192", "max_position_embeddings": "131072",
            "mlp_bias": "false", "num_attention_heads": "32", "num_hidden_layers": "16",
            "num_key_value_heads": "8", "pretraining_tp": "1", "rms_norm_eps": "1e-05",
            "rope_scaling":
                #"{"factor": 32.0, "high_freq_factor": 4.0, "low_freq_factor": 1.0, "original_max_position_embeddings": 8192, "rope_type": "llama3"}"#,
            "rope_theta": "500000.0", "tie_word_embeddings": "true", "vocab_size": "128256",
        ],
        "qwen2": [
            "model_type": "\"qwen2\"", "bos_token_id": "151643", "eos_token_id": "151645",
            "hidden_act": "\"silu\"", "hidden_size": "896", "intermediate_size": "4864",
            "max_position_embeddings": "32768", "max_window_layers": "21", "num_attention_heads": "14",
            "num_hidden_layers": "24", "num_key_value_heads": "2", "rms_norm_eps": "1e-06",
            "rope_theta": "1000000.0", "sliding_window": "32768", "tie_word_embeddings": "true",
            "use_sliding_window": "false", "vocab_size": "151936",
        ],
        "qwen3": [
            "model_type": "\"qwen3\"", "attention_bias": "false", "bos_token_id": "151643",
            "eos_token_id": "151645", "head_dim": "128", "hidden_act": "\"silu\"", "hidden_size": "1024",
            "intermediate_size": "3072", "max_position_embeddings": "40960", "max_window_layers": "28",
            "num_attention_heads": "16", "num_hidden_layers": "28", "num_key_value_heads": "8",
            "rms_norm_eps": "1e-06", "rope_scaling": "null", "rope_theta": "1000000",
            "sliding_window": "null", "tie_word_embeddings": "true", "use_sliding_window": "false",
            "vocab_size": "151936",
        ],
    ]

    /// A published model's with `changes` (nil takes a key away).
    private func configuration(
        _ model: String, _ changes: [String: String?] = [:]
    ) throws -> any Architecture {
        try architecture(#require(Self.published[model]), changes)
    }

    @Test func llama() throws {
        let model = try #require(try configuration("llama") as? Llama)
        #expect(model.shape.layerCount == 16 && model.shape.attention.headDimension == 64)
        #expect(model.shape.attention.slidingWindow == nil && model.shape.rope.theta == 500_000)
        #expect(model.tiedEmbeddings && model.normEpsilon == 1e-5 && model.intermediateSize == 8192)
        #expect(model.shape.endOfSequence == [128001, 128008, 128009])
        let factors = try #require(model.shape.rope.factors.periods)
        // Wavelengths of 2 pi * 500000^(i / 32) positions: up to 8192 / 4 as they are, from 8192 on slowed down by 32.
        #expect(factors.count == 32 && factors[..<15] == [Double](repeating: 1, count: 15)[...])
        #expect(factors[18...] == [Double](repeating: 32, count: 14)[...])
        let wavelength = 2 * Double.pi * pow(500_000, 16.0 / 32)
        let part = (8192 / wavelength - 1) / 3
        #expect(abs(factors[16] - 1 / ((1 - part) / 32 + part)) < 1e-9)
        #expect(model.shape.rope.shortLength == nil, "one set only")
        let plain = try configuration(
            "llama", ["rope_scaling": nil, "head_dim": nil, "rms_norm_eps": nil, "tie_word_embeddings": nil])
        #expect(plain.shape.attention.headDimension == 64 && plain.shape.rope.factors == Rope.Factors())
        #expect((plain as? Llama)?.normEpsilon == 1e-6 && (plain as? Llama)?.tiedEmbeddings == false)
    }

    @Test func qwen2() throws {
        let model = try #require(try configuration("qwen2") as? Qwen2)
        #expect(model.shape.attention.headDimension == 64 && model.shape.attention.keyValueHeadCount == 2)
        #expect(model.shape.layers.allSatisfy { $0.slidingWindow == nil })
        let windows = try configuration(
            "qwen2", ["use_sliding_window": "true", "sliding_window": "4096"]
        ).shape.layers.map(\.slidingWindow)
        #expect(windows[..<21].allSatisfy { $0 == nil } && windows[21...].allSatisfy { $0 == 4096 })
        let types = (0..<24).map { $0 % 3 == 0 ? "\"full_attention\"" : "\"sliding_attention\"" }
        let named = try configuration(
            "qwen2",
            [
                "use_sliding_window": "true", "sliding_window": "4096",
                "layer_types": "[\(types.joined(separator: ","))]",
            ]
        ).shape.layers.map { $0.slidingWindow == 4096 }
        #expect(named == (0..<24).map { $0 % 3 != 0 })
    }

    @Test func qwen3() throws {
        let model = try #require(try configuration("qwen3") as? Qwen3)
        #expect(model.shape.attention.queryWidth == 2048 && model.shape.attention.keyWidth == 1024)
        #expect(try configuration("qwen3", ["head_dim": nil]).shape.attention.headDimension == 128)
        #expect(model.shape.rope.dimension == 128 && model.shape.rope.theta == 1_000_000)
    }

    private static let llama3 =
        #""rope_type": "llama3", "factor": 8, "low_freq_factor": 1, "high_freq_factor": "#

    @Test(arguments: [
        ("llama", "attention_bias", "true", "\"attention_bias\" is true"),
        ("llama", "mlp_bias", "true", "\"mlp_bias\" is true"),
        ("llama", "rope_interleaved", "true", "\"rope_interleaved\" is true"),
        ("llama", "hidden_act", "\"gelu\"", "\"hidden_act\" is \"gelu\""),
        ("llama", "sliding_window", "4096", "\"sliding_window\" is there"),
        ("llama", "rope_scaling", "{\(llama3) 4, \"beta_fast\": 32}", "\"rope_scaling.beta_fast\""),
        ("llama", "rope_scaling", "{\(llama3) 4}", "original_max_position_embeddings\" is missing"),
        (
            "llama", "rope_scaling", "{\(llama3) 1, \"original_max_position_embeddings\": 8192}",
            "\"rope_scaling.high_freq_factor\" is 1.0; it must be above low_freq_factor"
        ),
        (
            "llama", "rope_scaling",
            #"{"rope_type": "llama3", "factor": 8, "original_max_position_embeddings": 8192}"#,
            "\"rope_scaling.low_freq_factor\" is missing"
        ),
        ("qwen2", "rope_scaling", #"{"type": "yarn", "factor": 4.0}"#, "is \"yarn\""),
        ("qwen2", "layer_types", #"["full_attention"]"#, "\"layer_types\" has 1 entries"),
        ("qwen2", "layer_types", "[1]", "\"layer_types[0]\" is a number"),
        ("qwen3", "attention_bias", "true", "\"attention_bias\" is true"),
    ])
    func whatIsNotSupportedIsNamed(model: String, key: String, value: String, message: String) {
        expectRefusal(Self.published[model] ?? [:], [key: value], message)
    }

    @Test func aWindowThatIsNotUsedIsNone() throws {
        let types = Array(repeating: "\"sliding_attention\"", count: 24).joined(separator: ",")
        let base = try #require(Self.published["qwen2"])
        expectRefusal(base, ["layer_types": "[\(types)]"], "where \"use_sliding_window\" is true")
        let window: [String: String?] = ["use_sliding_window": "true", "sliding_window": "null"]
        expectRefusal(base, window, "\"sliding_window\" is missing")
    }
}
