/// Multimodal models of which only the language model is run: Phi-3's layers.
protocol LanguagePart: GatedTransformer, Equatable {
    init(shape: ModelShape)
}

extension LanguagePart {
    package static var isFused: Bool { Phi3.isFused }
    package static var hasBranches: Bool { true }

    package init(_ config: ConfigReader) throws { self.init(shape: try Phi3(config).shape) }

    package static func leavesUnread(_ tensor: String) -> Bool {
        // Encoders of images and sounds with their projections, and branches of layers, which apply to such inputs
        // only.
        ["model.embed_tokens_extend.", "model.vision_embed_tokens."].contains { tensor.hasPrefix($0) }
            || [".lora_A.", ".lora_B."].contains { tensor.contains($0) }
    }
}

/// The language model of Phi-4-multimodal, as Microsoft publishes it.
package struct Phi4Multimodal: LanguagePart {
    package static let modelType = "phi4mm"
    package static let models = "the text path of Phi-4-multimodal"
    package var shape: ModelShape
}

/// The same as published by transformers.
package struct Phi4MultimodalOfTransformers: LanguagePart {
    package static let modelType = "phi4_multimodal"
    package static let models = Phi4Multimodal.models
    package var shape: ModelShape
}

/// The language model of Phi-3-vision and Phi-3.5-vision.
package struct Phi3Vision: LanguagePart {
    package static let modelType = "phi3_v"
    package static let models = "the text path of Phi-3-vision and Phi-3.5-vision"
    package var shape: ModelShape
}
