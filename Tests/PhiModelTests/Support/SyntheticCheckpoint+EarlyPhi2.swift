import Foundation

/// Phi-2 in its early form: the same weights under other names.
extension SyntheticCheckpoint {
    func addEarlyPhi2(to config: inout [String: Any]) {
        config["model_type"] = "phi-msft"
        for (new, old) in [
            ("hidden_size", "n_embd"), ("num_hidden_layers", "n_layer"), ("num_attention_heads", "n_head"),
            ("num_key_value_heads", "n_head_kv"), ("max_position_embeddings", "n_positions"),
            ("hidden_act", "activation_function"), ("layer_norm_eps", "layer_norm_epsilon"),
            ("intermediate_size", "n_inner"),
        ] {
            config[old] = config.removeValue(forKey: new)
        }
        config["rotary_dim"] = Int(Double(headDimension) * partialRotary)
        if intermediate == 4 * hidden { config["n_inner"] = NSNull() }
        for key in ["partial_rotary_factor", "rope_theta", "rope_scaling"] { config[key] = nil }
    }

    /// Queries, keys and values become one, as rows come after each other.
    func earlyPhi2(_ tensors: [Tensor]) -> [Tensor] {
        var made: [Tensor] = []
        for tensor in tensors {
            var name = tensor.name
            for (new, old) in [
                ("model.embed_tokens", "transformer.embd.wte"), ("model.layers", "transformer.h"),
                ("input_layernorm", "ln"), ("self_attn.q_proj", "mixer.Wqkv"),
                ("self_attn.k_proj", "mixer.Wqkv"), ("self_attn.v_proj", "mixer.Wqkv"),
                ("self_attn.dense", "mixer.out_proj"), ("model.final_layernorm", "lm_head.ln"),
            ] {
                name = name.replacing(new, with: old)
            }
            if tensor.name.hasPrefix("lm_head.") {
                name = tensor.name.replacing("lm_head.", with: "lm_head.linear.")
            }
            if let place = made.firstIndex(where: { $0.name == name }) {
                made[place].shape[0] += tensor.shape[0]
                made[place].data += tensor.data
            } else {
                made.append(tensor)
                made[made.count - 1].name = name
            }
        }
        return made
    }
}
