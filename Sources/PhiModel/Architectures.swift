import FoundationShim
import OperatingSystem

/// List of all architectures, and the choice between them.
package enum Architectures {
    static let all: [any Architecture.Type] = [
        Phi3.self,
        Phi2.self,
        PhiMoE.self,
        Phi4Multimodal.self,
        Phi4MultimodalOfTransformers.self,
        Phi3Vision.self,
        Phi3Small.self,
        Llama.self,
        Qwen2.self,
        Qwen3.self,
        Phi4Flash.self,
    ]

    /// Reads config.json of a model folder and generation_config.json if it exists, whose `eos_token_id` replaces
    /// config.json's.
    /// - Throws: `UserError`: `missing`, `malformed` or `unsupported`, naming file and key.
    package static func read(folder: String) throws -> any Architecture {
        var model = try read(reader(Paths.join(folder, "config.json")))
        let generation = Paths.join(folder, "generation_config.json")
        // The file is optional, but an unreadable one is a fault.
        if Files.kind(of: generation) != nil,
            let tokens = try reader(generation).optionalTokens("eos_token_id")
        {
            model.shape.endOfSequence = Set(tokens)
        }
        return model
    }

    /// Returns the architecture that `model_type` names.
    /// - Throws: `UserError`: `malformed` or `unsupported`, naming the key.
    static func read(_ config: ConfigReader) throws -> any Architecture {
        let key = "model_type"
        guard let type = try config.optionalString(key) else {
            throw config.fault(.malformed, key, "is missing; supported: \(supported)")
        }
        guard let architecture = all.first(where: { $0.modelType == type }) else {
            throw config.fault(
                .unsupported, key, "is \"\(type)\"; supported: \(supported)")
        }
        return try architecture.init(config)
    }

    /// As in: "phi3" (Phi-3, Phi-4), "phi" (Phi-2)
    package static var supported: String {
        all.map { "\"\($0.modelType)\" (\($0.models))" }.joined(separator: ", ")
    }

    private static func reader(_ path: String) throws -> ConfigReader {
        ConfigReader(path: path, members: try JSONFile.object(path))
    }
}
