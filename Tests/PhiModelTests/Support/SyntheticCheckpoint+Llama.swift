import Foundation

/// Llama, Qwen2 and Qwen3, whose matrices are apart.
extension SyntheticCheckpoint {
    func addLlama(to config: inout [String: Any]) {
        let names = [Model.llama: "LlamaForCausalLM", .qwen2: "Qwen2ForCausalLM", .qwen3: "Qwen3ForCausalLM"]
        config["architectures"] = names[model].map { [$0] }
        config["model_type"] = model.rawValue
        config["partial_rotary_factor"] = nil
        config["original_max_position_embeddings"] = nil
        if model == .qwen3 || headWidth != nil { config["head_dim"] = headDimension }
        if model == .llama {
            config["attention_bias"] = false
            config["mlp_bias"] = false
            config["sliding_window"] = nil
        } else {
            config["use_sliding_window"] = firstWindowLayer != nil
            config["max_window_layers"] = firstWindowLayer ?? layers
        }
        if rope == .llama3 {
            config["rope_scaling"] = [
                "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                "original_max_position_embeddings": originalContext,
            ]
        }
    }

    /// All but the embedding.
    func addLlama(_ all: inout [Tensor], _ random: inout Random) {
        func norm(_ path: String, _ count: Int) {
            all.append(vector(path + ".weight", count, 0.7...1.3, &random))
        }
        let (queries, keys) = (heads * headDimension, kvHeads * headDimension)
        for number in 0..<layers {
            let path = "model.layers.\(number)."
            norm(path + "input_layernorm", hidden)
            for (name, rows) in [("q", queries), ("k", keys), ("v", keys)] {
                let name = "\(path)self_attn.\(name)_proj"
                all += linear(name, rows, hidden, &random)
                if model == .qwen2 { all.append(vector(name + ".bias", rows, -0.4...0.4, &random)) }
            }
            if model == .qwen3 {
                norm(path + "self_attn.q_norm", headDimension)
                norm(path + "self_attn.k_norm", headDimension)
            }
            all += linear(path + "self_attn.o_proj", hidden, queries, &random)
            norm(path + "post_attention_layernorm", hidden)
            all += linear(path + "mlp.gate_proj", intermediate, hidden, &random)
            all += linear(path + "mlp.up_proj", intermediate, hidden, &random)
            all += linear(path + "mlp.down_proj", hidden, intermediate, &random)
        }
        norm("model.norm", hidden)
        if !tied { all += linear("lm_head", vocabulary, hidden, &random) }
    }
}
