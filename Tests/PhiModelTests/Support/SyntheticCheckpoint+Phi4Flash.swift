import Foundation

/// SambaY, with at least 8 layers, so that all its kinds are there.
extension SyntheticCheckpoint {
    func addPhi4Flash(to config: inout [String: Any]) {
        config["architectures"] = ["Phi4FlashForCausalLM"]
        config["model_type"] = "phi4flash"
        config["layer_norm_eps"] = 1e-5
        config["mb_per_layer"] = 2
        config["mamba_d_conv"] = convolutionLength
        config["mamba_d_state"] = scanStates
        for key in [
            "rms_norm_eps", "partial_rotary_factor", "original_max_position_embeddings", "rope_theta",
            "rope_scaling",
        ] {
            config[key] = nil
        }
    }

    /// All but the embedding.
    func addPhi4Flash(_ all: inout [Tensor], _ random: inout Random) {
        func biased(_ path: String, _ rows: Int, _ columns: Int) {
            all += linear(path, rows, columns, &random)
            all.append(vector(path + ".bias", rows, -0.4...0.4, &random))
        }
        let (inner, rank) = (2 * hidden, (hidden + 15) / 16)
        let (half, width) = (layers / 2, heads * headDimension)
        for number in 0..<layers {
            let path = "model.layers.\(number).attn."
            all += layerNorm("model.layers.\(number).input_layernorm", &random)
            if number % 2 != 0 {
                biased(path + "Wqkv", width + (number < half + 2 ? 2 * kvHeads * headDimension : 0), hidden)
                for name in ["q1", "k1", "q2", "k2"] {
                    all.append(
                        vector(
                            "\(path)inner_cross_attn.lambda_\(name)", headDimension, -0.2...0.2, &random))
                }
                all.append(
                    vector(path + "inner_cross_attn.subln.weight", 2 * headDimension, 0.7...1.3, &random))
                biased(path + "out_proj", hidden, width)
            } else if number < half + 2 {
                all += linear(path + "in_proj", 2 * inner, hidden, &random)
                var weights = vector(path + "conv1d.weight", inner * convolutionLength, -1...1, &random)
                weights.shape = [inner, 1, convolutionLength]
                all.append(weights)
                all.append(vector(path + "conv1d.bias", inner, -0.2...0.2, &random))
                all += linear(path + "x_proj", rank + 2 * scanStates, inner, &random)
                biased(path + "dt_proj", inner, rank)
                var rates = vector(path + "A_log", inner * scanStates, -2...2, &random)
                rates.shape = [inner, scanStates]
                all.append(rates)
                all.append(vector(path + "D", inner, 0.5...1.5, &random))
                all += linear(path + "out_proj", hidden, inner, &random)
            } else {
                all += linear(path + "in_proj", inner, hidden, &random)
                all += linear(path + "out_proj", hidden, inner, &random)
            }
            all += layerNorm("model.layers.\(number).post_attention_layernorm", &random)
            all += linear("model.layers.\(number).mlp.fc1", 2 * intermediate, hidden, &random)
            all += linear("model.layers.\(number).mlp.fc2", hidden, intermediate, &random)
        }
        all += layerNorm("model.final_layernorm", &random)
        if !tied { all += linear("lm_head", vocabulary, hidden, &random) }
    }
}
