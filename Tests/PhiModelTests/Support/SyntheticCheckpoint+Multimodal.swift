import Foundation

/// Phi-4-multimodal and Phi-3.5-vision: Phi-3's layers, and what only images and sounds need.
extension SyntheticCheckpoint {
    func addMultimodal(to config: inout [String: Any]) {
        config["architectures"] = [model == .phi4mm ? "Phi4MMForCausalLM" : "Phi3VForCausalLM"]
        config["model_type"] = model.rawValue
        config["img_processor"] = ["image_dim_out": 1024, "name": "clip_vision_model"]
        config["embd_layer"] = ["embedding_cls": "image", "use_hd_transform": true]
        guard model == .phi4mm else { return }
        config["vision_lora"] = ["r": 8, "lora_alpha": 16, "dp": 0.0, "layer": "layers.*(qkv_proj|o_proj)"]
        config["speech_lora"] = ["r": 8, "lora_alpha": 16, "dp": 0.01, "layer": "layers.*(qkv_proj|o_proj)"]
        config["attention_bias"] = false
        config["lm_head_bias"] = false
        config["mlp_bias"] = false
    }

    /// Values that would spoil every result that they come into.
    private func unread(_ name: String, _ shape: [Int]) -> Tensor {
        let values = [Double](repeating: 1e4, count: shape.reduce(1, *))
        return Tensor(name: name, type: floats.rawValue, shape: shape, data: encode(values))
    }

    func branches(_ path: String, _ rows: Int, _ columns: Int) -> [Tensor] {
        ["vision", "speech"].flatMap { kind in
            [
                unread("\(path).lora_A.\(kind).weight", [8, columns]),
                unread("\(path).lora_B.\(kind).weight", [rows, 8]),
            ]
        }
    }

    func eyes() -> [Tensor] {
        let paths =
            model == .phi4mm
            ? [
                "embed_tokens_extend.image_embed.glb_GN",
                "embed_tokens_extend.audio_embed.encoder.embed.weight",
            ]
            : ["vision_embed_tokens.sub_GN", "vision_embed_tokens.img_projection.0.bias"]
        return paths.map { unread("model.\($0)", [1, 1, hidden]) }
    }
}
