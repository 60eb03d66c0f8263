import JSON

/// config.json and generation_config.json of a converted model.
struct ConvertedConfiguration {
    let model: GGUFHyperparameters
    let plan: ConversionPlan
    let special: GGUFSpecialTokens

    /// config.json
    func config(_ metadata: ConfigReader) throws -> JSONObject {
        // Also looks whether the file asks for a scaling that the model has not.
        let scaling = try ropeScaling(metadata)
        let epsilon = JSONValue.float(model.normEpsilon)
        let windowed: [(String, JSONValue)] = [
            ("rms_norm_eps", epsilon), ("rope_scaling", scaling),
            ("original_max_position_embeddings", .int(model.originalContextLength ?? model.contextLength)),
            ("sliding_window", model.slidingWindow.map { .int($0) } ?? .null),
        ]
        var members: [(String, JSONValue)]
        switch model.architecture {
        case .phi2:
            members = common("PhiForCausalLM", "phi", activation: "gelu_new")
            members += [("layer_norm_eps", epsilon), ("qk_layernorm", .bool(false))]
        case .phimoe:
            members = common("PhiMoEForCausalLM", "phimoe") + windowed
            members += [
                ("attention_bias", .bool(true)), ("lm_head_bias", .bool(true)),
                ("num_local_experts", .int(model.expertCount)), ("num_experts_per_tok", .int(2)),
                // GGUF has no key for it, and all models have this one.
                ("router_jitter_noise", .double(0.01)),
            ]
        case .phi3, .llama:
            members = common("Phi3ForCausalLM", "phi3") + windowed + [("attention_bias", .bool(false))]
        case .qwen2, .qwen3:
            let name = model.architecture == .qwen2 ? "Qwen2ForCausalLM" : "Qwen3ForCausalLM"
            members = common(name, model.architecture.rawValue).filter { $0.0 != "head_dim" }
            members += [
                ("head_dim", .int(model.headDimension)), ("rms_norm_eps", epsilon),
                ("rope_scaling", scaling), ("use_sliding_window", .bool(false)),
            ]
        }
        members += tokenIDs
        if let quantization {
            members += [("quantization", quantization), ("quantization_config", quantization)]
        }
        return JSONObject(members)
    }

    /// Members that all kinds of models have.
    private func common(
        _ architecture: String, _ type: String, activation: String = "silu"
    ) -> [(String, JSONValue)] {
        var members: [(String, JSONValue)] = [
            ("architectures", .array([.string(architecture)])), ("model_type", .string(type)),
            ("hidden_act", .string(activation)), ("hidden_size", .int(model.hiddenSize)),
            ("num_hidden_layers", .int(model.layerCount)),
            ("num_attention_heads", .int(model.headCount)),
            ("num_key_value_heads", .int(model.keyValueHeadCount)),
        ]
        if model.headDimension * model.headCount != model.hiddenSize {
            members.append(("head_dim", .int(model.headDimension)))
        }
        return members + [
            ("intermediate_size", .int(model.intermediateSize)),
            ("vocab_size", .int(plan.vocabularySize)), ("rope_theta", .float(model.ropeTheta)),
            ("partial_rotary_factor", .double(rotaryFraction)),
            ("max_position_embeddings", .int(model.contextLength)),
            ("tie_word_embeddings", .bool(plan.tiedEmbeddings)),
        ]
    }

    /// Notes for a person on facts that the file does not state.
    var notes: [String] {
        guard model.architecture == .phimoe, plan.factors != nil else { return [] }
        return [
            "the file has one factor for cos and sin of all lengths (\(attentionFactor)), which is short_mscale and "
                + "long_mscale in config.json now. The original's config.json may have others (Phi-3.5-MoE: "
                + "1.243163121016122 both): take its \"rope_scaling\" to compute as it does"
        ]
    }

    /// Factor that the file states, or the formula's.
    private var attentionFactor: Double {
        model.attentionFactor.map { Double($0) }
            ?? Rope.magnitude(
                contextLength: model.contextLength,
                originalContextLength: model.originalContextLength ?? model.contextLength)
    }

    /// generation_config.json
    var generationConfig: JSONValue { .object(JSONObject(tokenIDs)) }

    private var tokenIDs: [(String, JSONValue)] {
        var members: [(String, JSONValue)] = []
        if let id = special.beginOfSequence { members.append(("bos_token_id", .int(id))) }
        let ends = special.endOfSequence
        if ends.count == 1 {
            members.append(("eos_token_id", .int(ends[0])))
        } else if !ends.isEmpty {
            members.append(("eos_token_id", .array(ends.map { .int($0) })))
        }
        if let id = special.padding { members.append(("pad_token_id", .int(id))) }
        return members
    }

    /// Readers multiply by the head's dimension and cut off; the product must not fall short by a rounding.
    private var rotaryFraction: Double {
        let (rotary, head) = (Double(model.rotaryDimension), Double(model.headDimension))
        let fraction = rotary / head
        return fraction * head < rotary ? fraction.nextUp : fraction
    }

    private func ropeScaling(_ metadata: ConfigReader) throws -> JSONValue {
        let key = "\(model.architecture.rawValue).rope.scaling.attn_factor"
        guard let (short, long) = plan.factors else {
            if let factor = model.attentionFactor, factor != 1 {
                throw metadata.fault(
                    .unsupported, key, "is \(factor), but there are no tensors rope_factors_*")
            }
            return .null
        }
        // One set of factors is of all lengths, and so scales nothing.
        let whole = model.architecture == .llama ? model.contextLength : nil
        guard let original = whole ?? model.originalContextLength else {
            throw metadata.fault(
                .malformed, "\(model.architecture.rawValue).rope.scaling.original_context_length",
                "is missing")
        }
        guard (short + long).allSatisfy({ $0.isFinite && $0 > 0 }) else {
            throw UserError(
                .malformed, at: metadata.path,
                "the tensors of RoPE's factors hold one that is not positive.")
        }
        var members: [(String, JSONValue)] = [
            ("type", .string("longrope")), ("short_factor", .array(short.map { .float($0) })),
            ("long_factor", .array(long.map { .float($0) })),
        ]
        if model.architecture == .phimoe {
            members += [
                ("short_mscale", .double(attentionFactor)), ("long_mscale", .double(attentionFactor)),
                ("original_max_position_embeddings", .int(original)),
            ]
            return .object(JSONObject(members))
        }
        // The file's factor is mostly a rounding of the formula that readers use without one.
        let standard = Rope.magnitude(
            contextLength: model.contextLength, originalContextLength: original)
        if let factor = model.attentionFactor, factor != Float(standard) {
            members.append(("attention_factor", .float(factor)))
        }
        return .object(JSONObject(members))
    }

    private var quantization: JSONValue? {
        QuantizationConfiguration.member(
            plan.layers.compactMap { layer in layer.parameters.map { (layer.path, $0) } })
    }
}
