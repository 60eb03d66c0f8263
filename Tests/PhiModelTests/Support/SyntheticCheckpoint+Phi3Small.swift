import Foundation

extension SyntheticCheckpoint {
    struct Phi3SmallOptions {
        var localBlocks = 1
        var stride = 2
        var isHomogeneous = false
        var denseEvery = 2
        var limit = 1.5
    }

    func addPhi3Small(to config: inout [String: Any]) {
        config["architectures"] = ["Phi3SmallForCausalLM"]
        config["model_type"] = "phi3small"
        config["hidden_act"] = "gegelu"
        config["gegelu_limit"] = small.limit
        for (new, old) in [
            ("intermediate_size", "ff_intermediate_size"), ("rms_norm_eps", "layer_norm_epsilon"),
            ("rope_theta", "rope_embedding_base"),
        ] {
            config[old] = config.removeValue(forKey: new)
        }
        config["rope_position_scale"] = 1.0
        config["mup_attn_multiplier"] = 1.0
        config["mup_embedding_multiplier"] = 10.0
        config["mup_use_scaling"] = true
        config["mup_width_multiplier"] = 8.0
        config["dense_attention_every_n_layers"] = small.denseEvery
        config["blocksparse_block_size"] = 64
        config["blocksparse_homo_head_pattern"] = small.isHomogeneous
        config["blocksparse_num_local_blocks"] = small.localBlocks
        config["blocksparse_vert_stride"] = small.stride
        for key in ["sliding_window", "partial_rotary_factor", "tie_word_embeddings"] { config[key] = nil }
    }

    /// All but the embedding.
    func addPhi3Small(_ all: inout [Tensor], _ random: inout Random) {
        func linear(_ path: String, _ rows: Int, _ columns: Int) {
            all += self.linear(path, rows, columns, &random)
            all.append(vector(path + ".bias", rows, -0.4...0.4, &random))
        }
        for number in 0..<layers {
            let path = "model.layers.\(number)."
            all += layerNorm(path + "input_layernorm", &random)
            linear(path + "self_attn.query_key_value", (heads + 2 * kvHeads) * headDimension, hidden)
            linear(path + "self_attn.dense", hidden, heads * headDimension)
            all += layerNorm(path + "post_attention_layernorm", &random)
            linear(path + "mlp.up_proj", 2 * intermediate, hidden)
            linear(path + "mlp.down_proj", hidden, intermediate)
        }
        all += layerNorm("model.final_layernorm", &random)
    }
}
