import JSON
import OperatingSystem

/// Files of a repository that a model needs.
package enum ModelFiles {
    /// Besides weights: what there may be, and whether a model can't do without it.
    private static let named: [(name: String, isNeeded: Bool)] = [
        ("config.json", true), ("generation_config.json", false), ("tokenizer.json", true),
        ("tokenizer_config.json", true), ("special_tokens_map.json", false), ("added_tokens.json", false),
        ("chat_template.jinja", false), ("chat_template.json", false),
    ]
    /// File that Phi-3-small has in the place of tokenizer.json.
    private static let tiktoken = "cl100k_base.tiktoken"
    static let index = "model.safetensors.index.json"

    /// Files in subfolders are other formats' (ONNX, the original weights).
    static func isWanted(_ path: String) -> Bool {
        if named.contains(where: { $0.name == path }) || path == index || path == tiktoken { return true }
        return path.hasSuffix(".safetensors") && !path.utf8.contains { $0 == UInt8(ascii: "/") || $0 < 0x20 }
    }

    /// Returns the file that lacks among a repository's for it to be a model of ours; nil if none does.
    static func lack(among names: [String]) -> String? {
        if let name = lack(where: names.contains) { return name }
        return names.contains { $0.hasSuffix(".safetensors") } ? nil : "*.safetensors"
    }

    /// Whether a folder has all that a model needs; of the weights, all the files that its index names.
    package static func areComplete(in folder: String) -> Bool { lack(in: folder) == nil }

    /// The first file that lacks in a folder for it to be a model; nil if none does.
    static func lack(in folder: String) -> String? {
        func isHere(_ name: String) -> Bool { Files.kind(of: Paths.join(folder, name)) == .regular }
        if let name = lack(where: isHere) { return name }
        guard let bytes = try? Files.contents(of: Paths.join(folder, index), limit: 64 << 20) else {
            return isHere("model.safetensors") ? nil : "model.safetensors"
        }
        guard let parts = weightFiles(inIndex: bytes) else { return index }
        return parts.sorted().first { !isHere($0) }
    }

    /// Returns the file that lacks besides weights.
    private static func lack(where isHere: (String) -> Bool) -> String? {
        named.first { name, isNeeded in
            isNeeded && !isHere(name) && !(name == "tokenizer.json" && isHere(tiktoken))
        }?.name
    }

    /// The files that an index names; nil if it is none.
    private static func weightFiles(inIndex bytes: [UInt8]) -> Set<String>? {
        guard let value = try? JSONValue(parsing: bytes, limits: .file),
            case .object(let map)? = value["weight_map"]
        else { return nil }
        var names: Set<String> = []
        for file in map {
            guard case .string(let name) = file.value, Paths.fault(inForeign: name) == nil else { return nil }
            names.insert(name)
        }
        return names.isEmpty ? nil : names
    }
}
