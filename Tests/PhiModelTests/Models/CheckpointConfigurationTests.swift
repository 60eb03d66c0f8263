import Foundation
import Testing

@testable import PhiModel

struct CheckpointConfigurationTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private static let base = [
        "model_type": "\"phi3\"", "hidden_size": "128", "num_hidden_layers": "2", "num_attention_heads": "4",
        "intermediate_size": "256", "vocab_size": "320", "max_position_embeddings": "8192",
        "rope_scaling": "null", "eos_token_id": "2", "transformers_version": "\"4.43.3\"",
    ]

    /// The base with `changes` (nil takes a key away).
    private func configuration(
        _ changes: [String: String?] = [:], generation: String? = nil
    ) throws -> Phi3 {
        var members = Self.base
        for (key, value) in changes { members[key] = value }
        let text = members.map { "\"\($0.key)\": \($0.value)" }.joined(separator: ",\n")
        try scratch.write("config.json", "{\(text)}")
        if let generation { try scratch.write("generation_config.json", generation) }
        return try #require(try Architectures.read(folder: scratch.path) as? Phi3)
    }

    @Test func defaultsAreThoseOfTheFamily() throws {
        let config = try configuration()
        #expect(
            config.shape.attention.keyValueHeadCount == 4 && config.shape.attention.headDimension == 32
                && config.shape.rope.dimension == 32)
        #expect(config.shape.rope.theta == 10000 && config.normEpsilon == 1e-5 && !config.tiedEmbeddings)
        #expect(
            config.shape.attention.slidingWindow == nil && config.shape.quantization == nil
                && config.shape.rope.factors == Rope.Factors())
        #expect(
            config.shape.endOfSequence == [2] && config.shape.beginOfSequence == nil
                && config.shape.padding == nil)
        #expect(config.shape.attention.qkvWidth == 12 * 32 && config.shape.attention.queryWidth == 128)
    }

    @Test func geometryIsRead() throws {
        let config = try configuration([
            "num_key_value_heads": "2", "head_dim": "40", "partial_rotary_factor": "0.75",
            "sliding_window": "2047",
            "tie_word_embeddings": "true", "rope_theta": "250000", "bos_token_id": "1", "pad_token_id": "-1",
        ])
        #expect(
            config.shape.attention.headDimension == 40 && config.shape.rope.dimension == 30
                && config.shape.attention.slidingWindow == 2047)
        #expect(
            config.shape.attention.qkvWidth == 8 * 40 && config.shape.attention.queryWidth == 160
                && config.tiedEmbeddings)
        #expect(
            config.shape.rope.theta == 250000 && config.shape.beginOfSequence == 1
                && config.shape.padding == nil)
        #expect(try configuration(["sliding_window": "8192"]).shape.attention.slidingWindow == nil)
        #expect(try configuration(["sliding_window": "8191"]).shape.attention.slidingWindow == 8191)
    }

    @Test func generationConfigNamesTheEnds() throws {
        #expect(try configuration(generation: #"{"eos_token_id": [7, 9, 7]}"#).shape.endOfSequence == [7, 9])
        #expect(try configuration(generation: #"{"eos_token_id": 5}"#).shape.endOfSequence == [5])
        #expect(try configuration(generation: #"{"temperature": 0.5}"#).shape.endOfSequence == [2])
        #expect(
            try configuration(["eos_token_id": "[3, 4]"], generation: "{}").shape.endOfSequence == [3, 4])
        for text in ["{", #"{"eos_token_id": "2"}"#, #"{"eos_token_id": [1.5]}"#, #"{"eos_token_id": -1}"#] {
            #expect(throws: UserError.self) { try configuration(generation: text) }
        }
    }

    private static func factors(_ count: Int, _ value: String = "1.5") -> String {
        "[" + Array(repeating: value, count: count).joined(separator: ", ") + "]"
    }

    @Test(arguments: ["longrope", "su"])
    func longropeIsRead(type: String) throws {
        let scaling =
            "{\"type\": \"\(type)\", \"short_factor\": \(Self.factors(16)), \"long_factor\": \(Self.factors(16, "2"))}"
        let config = try configuration([
            "rope_scaling": scaling, "original_max_position_embeddings": "4096",
        ])
        let factor = (1 + 1.0 / 12).squareRoot()
        let expected = Rope(
            dimension: 32, theta: 10000,
            factors: .init(periods: Array(repeating: 1.5, count: 16), magnitude: factor),
            longFactors: .init(periods: Array(repeating: 2, count: 16), magnitude: factor), shortLength: 4096)
        #expect(config.shape.rope == expected)
    }

    @Test func newerTransformersPutRopeInOneObject() throws {
        let config = try configuration([
            "rope_scaling": nil,
            "rope_parameters": """
            {"rope_type": "longrope", "rope_theta": 5000.0, "partial_rotary_factor": 0.5,
             "original_max_position_embeddings": 4096, "attention_factor": 1.25, "factor": 2.0,
             "short_factor": \(Self.factors(8)), "long_factor": \(Self.factors(8))}
            """,
        ])
        #expect(config.shape.rope.theta == 5000 && config.shape.rope.dimension == 16)
        let rope = config.shape.rope
        #expect(rope.factors.magnitude == 1.25 && rope.shortLength == 4096)
        let plain = try configuration(["rope_parameters": #"{"rope_type": "default", "rope_theta": 7.0}"#])
        #expect(plain.shape.rope.factors == Rope.Factors() && plain.shape.rope.theta == 7)
    }

    @Test func quantizationIsRead() throws {
        let text = """
            {"group_size": 64, "bits": 4, "mode": "affine", "lm_head": {"group_size": 32, "bits": 8},
             "model.norm": false, "model.embed_tokens": {"bits": 6}, "model.layers.0.mlp.down_proj": true}
            """
        for key in ["quantization", "quantization_config"] {
            let quantization = try #require(try configuration([key: text]).shape.quantization)
            #expect(quantization.parameters(for: "any") == .init(groupSize: 64, bits: 4))
            #expect(quantization.parameters(for: "lm_head") == .init(groupSize: 32, bits: 8))
            #expect(quantization.parameters(for: "model.embed_tokens") == .init(groupSize: 64, bits: 6))
            #expect(
                quantization.parameters(for: "model.layers.0.mlp.down_proj") == .init(groupSize: 64, bits: 4))
            #expect(quantization.parameters(for: "model.norm") == nil)
        }
        #expect(
            try configuration(["quantization": text, "quantization_config": text]).shape.quantization != nil)
    }

    /// One change each (nil takes the key away), and what the message must name.
    static let wrongValues: [(key: String, value: String?, kind: UserError.Kind, message: String)] = [
        ("model_type", "\"gemma2\"", .unsupported, "is \"gemma2\"; supported: \"phi3\" (Phi-3, Phi-3.5,"),
        ("model_type", nil, .malformed, "\"model_type\" is missing"),
        ("hidden_size", "0", .malformed, "\"hidden_size\" is 0"),
        ("hidden_size", "128.0", .malformed, "\"hidden_size\" is a number; a whole number"),
        ("hidden_size", "\"128\"", .malformed, "\"hidden_size\" is a string"),
        ("hidden_size", "9223372036854775807", .malformed, "\"hidden_size\""),
        ("hidden_size", "126", .malformed, "does not divide hidden_size 126"),
        ("num_key_value_heads", "3", .malformed, "\"num_key_value_heads\" is 3, which does not divide 4"),
        ("head_dim", "65537", .malformed, "\"head_dim\" is 65537"),
        ("head_dim", "1026", .unsupported, "\"head_dim\" makes heads of 1026 dimensions"),
        ("hidden_size", "4128", .unsupported, "\"num_attention_heads\" makes heads of 1032 dimensions"),
        ("vocab_size", "true", .malformed, "\"vocab_size\" is a boolean"),
        ("rms_norm_eps", "-1e-5", .malformed, "\"rms_norm_eps\""),
        ("rope_theta", "0", .malformed, "\"rope_theta\""),
        ("partial_rotary_factor", "1.5", .malformed, "\"partial_rotary_factor\""),
        ("partial_rotary_factor", "0.35", .unsupported, "\"partial_rotary_factor\" gives 11 of 32"),
        ("hidden_act", "\"gelu\"", .unsupported, "\"hidden_act\" is \"gelu\""),
        ("attention_bias", "true", .unsupported, "\"attention_bias\""),
        ("sliding_window", "0", .malformed, "\"sliding_window\""),
        ("eos_token_id", "2.5", .malformed, "\"eos_token_id\""),
        ("rope_scaling", #"{"type": "yarn", "factor": 2}"#, .unsupported, "type\" is \"yarn\""),
        ("rope_scaling", #"{"rope_type": "linear"}"#, .unsupported, "rope_type\" is \"linear\""),
        ("rope_scaling", "{}", .malformed, "\"rope_scaling.type\" is missing"),
        ("rope_scaling", "[]", .malformed, "\"rope_scaling\" is a list"),
        ("rope_scaling", #"{"type": "longrope"}"#, .malformed, "original_max_position_embeddings"),
        (
            "rope_scaling", #"{"type": "su", "original_max_position_embeddings": 4096, "short_factor": [1]}"#,
            .malformed, "\"rope_scaling.short_factor\" has 1 entries; a list of 16"
        ),
        ("rope_scaling", #"{"type": "su", "short_mscale": 1.1}"#, .unsupported, "short_mscale\""),
        ("quantization", #"{"bits": 4}"#, .malformed, "\"quantization.group_size\" is missing"),
        ("quantization", #"{"bits": 7, "group_size": 64}"#, .unsupported, "\"quantization.bits\" is 7"),
        ("quantization", #"{"bits": 4, "group_size": 16}"#, .unsupported, "group_size\" is 16"),
        ("quantization", #"{"bits": 4, "group_size": 32, "mode": "mxfp4"}"#, .unsupported, "n.mode"),
        ("quantization", #"{"bits": 4, "group_size": 32, "a": {"bits": 1}}"#, .unsupported, "n.a.bits"),
        ("quantization", #"{"bits": 4, "group_size": 32, "x": 1}"#, .unsupported, "\"quantization.x\""),
        ("quantization_config", #"{"quant_method": "gptq"}"#, .unsupported, "is \"gptq\": weights packed so"),
        ("quantization_config", #"{"quant_method": "awq"}"#, .unsupported, "phibatch quantize"),
    ]

    @Test(arguments: wrongValues)
    func aWrongValueIsNamed(key: String, value: String?, kind: UserError.Kind, message: String) {
        let error = #expect(throws: UserError.self) { try configuration([key: value]) }
        #expect(error?.kind == kind)
        #expect(error?.place?.hasSuffix("/config.json") == true)
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    }

    @Test func contradictionsAreRefused() throws {
        let (four, eight) = (#"{"bits": 4, "group_size": 64}"#, #"{"bits": 8, "group_size": 64}"#)
        #expect(throws: UserError.self) {
            try configuration(["quantization": four, "quantization_config": eight])
        }
        #expect(throws: UserError.self) {
            try configuration([
                "rope_theta": "1e4", "rope_parameters": #"{"rope_type": "default", "rope_theta": 5e3}"#,
            ])
        }
        #expect(throws: UserError.self) {
            try configuration(["rope_scaling": #"{"rope_type": "longrope", "type": "default"}"#])
        }
    }

    @Test func whatIsNoObjectIsRefused() throws {
        for text in [
            "", "[]", "{\"a\": 1, \"a\": 1}", "{\"hidden_size\": NaN}", "\u{FEFF}{}", "{} {}", "{'a': 1}",
        ] {
            try scratch.write("config.json", text)
            let error = #expect(throws: UserError.self) { try Architectures.read(folder: scratch.path) }
            #expect(error?.kind == .malformed)
        }
        let error = #expect(throws: UserError.self) {
            try Architectures.read(folder: scratch.path + "/absent")
        }
        #expect(error?.kind == .missing)
    }
}
