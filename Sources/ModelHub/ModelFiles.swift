import OperatingSystem
import PhiModel

/// Files of a repository that a model needs.
enum ModelFiles {
    /// Besides weights: possible files, and whether a model needs them.
    private static let named: [(name: String, isNeeded: Bool)] = [
        ("config.json", true), ("generation_config.json", false), ("tokenizer.json", true),
        ("tokenizer_config.json", true), ("special_tokens_map.json", false), ("added_tokens.json", false),
        ("chat_template.jinja", false), ("chat_template.json", false),
    ]
    /// Phi-3-small's file in place of tokenizer.json.
    private static let tiktoken = "cl100k_base.tiktoken"

    /// Files in subfolders are of other formats (ONNX, the original weights).
    static func isWanted(_ path: String) -> Bool {
        if named.contains(where: { $0.name == path }) || path == TensorStore.indexName || path == tiktoken {
            return true
        }
        return path.hasSuffix(".safetensors") && !path.utf8.contains { $0 == UInt8(ascii: "/") || $0 < 0x20 }
    }

    /// Returns the first file missing in a repository to be a model; nil if there is none.
    static func lack(among names: [String]) -> String? {
        if let name = lack(where: names.contains) { return name }
        return names.contains { $0.hasSuffix(".safetensors") } ? nil : "*.safetensors"
    }

    /// Returns the first file missing in a folder to be a model, all weight files of its index included; nil if there
    /// is none.
    static func lack(in folder: String) -> String? {
        func isHere(_ name: String) -> Bool { Files.kind(of: Paths.join(folder, name)) == .regular }
        if let name = lack(where: isHere) { return name }
        guard let parts = try? TensorStore.indexedFiles(in: folder) ?? ["model.safetensors"], !parts.isEmpty
        else { return TensorStore.indexName }
        return parts.first { !isHere($0) }
    }

    /// Returns the first file missing besides weights.
    private static func lack(where isHere: (String) -> Bool) -> String? {
        named.first { name, isNeeded in
            isNeeded && !isHere(name) && !(name == "tokenizer.json" && isHere(tiktoken))
        }?.name
    }
}
