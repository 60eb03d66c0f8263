import Foundation

/// LFM2, of which every other layer is a convolution, the first one too.
extension SyntheticCheckpoint {
    func addLfm2(to config: inout [String: Any]) {
        config["architectures"] = ["Lfm2ForCausalLM"]
        config["model_type"] = "lfm2"
        config["layer_types"] = (0..<layers).map { $0 % 2 == 0 ? "conv" : "full_attention" }
        config["norm_eps"] = 1e-5
        config["conv_L_cache"] = convolutionLength
        config["conv_bias"] = false
        config["block_auto_adjust_ff_dim"] = false
        for key in [
            "rms_norm_eps", "hidden_act", "sliding_window", "partial_rotary_factor",
            "original_max_position_embeddings",
        ] {
            config[key] = nil
        }
    }

    /// All but the embedding.
    func addLfm2(_ all: inout [Tensor], _ random: inout Random) {
        func norm(_ path: String, _ count: Int) {
            all.append(vector(path + ".weight", count, 0.7...1.3, &random))
        }
        for number in 0..<layers {
            let path = "model.layers.\(number)."
            norm(path + "operator_norm", hidden)
            if number % 2 == 0 {
                all += linear(path + "conv.in_proj", 3 * hidden, hidden, &random)
                var weights = vector(
                    path + "conv.conv.weight", hidden * convolutionLength, -1...1, &random)
                weights.shape = [hidden, 1, convolutionLength]
                all.append(weights)
                all += linear(path + "conv.out_proj", hidden, hidden, &random)
            } else {
                for (name, rows) in [("q", heads), ("k", kvHeads), ("v", kvHeads)] {
                    all += linear("\(path)self_attn.\(name)_proj", rows * headDimension, hidden, &random)
                }
                norm(path + "self_attn.q_layernorm", headDimension)
                norm(path + "self_attn.k_layernorm", headDimension)
                all += linear(path + "self_attn.out_proj", hidden, heads * headDimension, &random)
            }
            norm(path + "ffn_norm", hidden)
            all += linear(path + "feed_forward.w1", intermediate, hidden, &random)
            all += linear(path + "feed_forward.w3", intermediate, hidden, &random)
            all += linear(path + "feed_forward.w2", hidden, intermediate, &random)
        }
        norm("model.embedding_norm", hidden)
        if !tied { all += linear("lm_head", vocabulary, hidden, &random) }
    }
}
