import Foundation

extension SyntheticCheckpoint {
    struct PhiMoEOptions {
        var count = 16
        var jitter = 0.01
        /// Whether attention and the head have them.
        var biases = true
        /// One by one, as Hugging Face has them, instead of stacked.
        var areSeparate = false
    }

    func addPhiMoE(to config: inout [String: Any]) {
        config["architectures"] = ["PhiMoEForCausalLM"]
        config["model_type"] = "phimoe"
        config["num_local_experts"] = experts.count
        config["num_experts_per_tok"] = 2
        config["router_jitter_noise"] = experts.jitter
        config["attention_bias"] = experts.biases
        config["lm_head_bias"] = experts.biases
        config["partial_rotary_factor"] = nil
        if headWidth != nil { config["head_dim"] = headDimension }
    }

    /// All of Phi-3.5-MoE but the embedding.
    func addPhiMoE(_ all: inout [Tensor], _ random: inout Random) {
        func linear(_ path: String, _ rows: Int, _ columns: Int) {
            all += self.linear(path, rows, columns, &random)
            if experts.biases { all.append(vector(path + ".bias", rows, -0.4...0.4, &random)) }
        }
        for number in 0..<layers {
            let path = "model.layers.\(number)."
            all += layerNorm(path + "input_layernorm", &random)
            linear(path + "self_attn.q_proj", heads * headDimension, hidden)
            linear(path + "self_attn.k_proj", kvHeads * headDimension, hidden)
            linear(path + "self_attn.v_proj", kvHeads * headDimension, hidden)
            linear(path + "self_attn.o_proj", hidden, heads * headDimension)
            all += layerNorm(path + "post_attention_layernorm", &random)
            let moe = path + "block_sparse_moe."
            all += self.linear(moe + "gate", experts.count, hidden, &random)
            for (name, short, rows, columns) in [
                ("gate_proj", "w1", intermediate, hidden), ("up_proj", "w3", intermediate, hidden),
                ("down_proj", "w2", hidden, intermediate),
            ] {
                let stacked = "\(moe)switch_mlp.\(name)"
                let parts = (0..<experts.count).map { _ in self.linear(stacked, rows, columns, &random) }
                if experts.areSeparate {
                    for (number, part) in parts.enumerated() {
                        all += part.map { tensor in
                            var own = tensor
                            own.name = tensor.name.replacing(
                                stacked, with: "\(moe)experts.\(number).\(short)")
                            return own
                        }
                    }
                } else {
                    all += parts[0].indices.map { place in
                        var tensor = parts[0][place]
                        tensor.shape.insert(experts.count, at: 0)
                        tensor.data = parts.reduce(Data()) { $0 + $1[place].data }
                        return tensor
                    }
                }
            }
        }
        all += layerNorm("model.norm", &random)
        linear("lm_head", vocabulary, hidden)
    }
}
