import OperatingSystem
import PhiText

/// The part of a run's fingerprint that a model folder gives: each file's size and the hash of its content.
///
/// Times and paths don't count: a copied folder is the same model.
package enum ModelFingerprint {
    private static let modelFiles = ["config.json", "generation_config.json", "model.safetensors.index.json"]
    private static let adapterFiles = [
        "adapter_config.json", "adapter_model.safetensors", "adapters.safetensors",
    ]
    private static let tokenizerFiles = [
        "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json",
        "chat_template.jinja", "chat_template.json", "cl100k_base.tiktoken",
    ]

    /// - Parameters:
    ///   - adapter: the folder of an adapter; its files are part of the model then.
    ///   - hashes: keeps large files' hashes from one start to the next, or does not.
    ///   - willRead: called with the bytes of files whose hashes are not known yet, before they are read.
    /// - Returns: parts of the groups `model` and `tokenizer`, always in the same order.
    /// - Throws: `UserError` if the folder or a file can't be read, or holds no weights.
    package static func parts(
        folder: String, adapter: String? = nil, hashes: FileHashes = FileHashes(cache: nil),
        willRead: (Int) -> Void = { _ in }
    ) throws -> [(String, String)] {
        let names = try explaining(
            .missing, at: folder, "the model folder can't be read", try Files.names(in: folder))
        let present = Set(names)
        let weights = names.filter { $0.utf8.reversed().starts(with: ".safetensors".utf8.reversed()) }
            .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        guard !weights.isEmpty else {
            throw UserError(.missing, at: folder, "the model folder has no *.safetensors file.")
        }
        var files = (modelFiles.filter(present.contains) + weights).map {
            (name: "model.\($0)", path: Paths.join(folder, $0))
        }
        if let adapter {
            files += adapterFiles.map { ("model.adapter \($0)", Paths.join(adapter, $0)) }
                .filter { Files.kind(of: $0.1) == .regular }
        }
        files += tokenizerFiles.filter(present.contains).map { ("tokenizer.\($0)", Paths.join(folder, $0)) }
        let found = try explaining(.missing, try hashes.hashes(of: files.map(\.path), willRead: willRead))
        return zip(files, found).map { file, hash in
            (file.name, "\(hash.state.size) bytes, sha256 \(hash.sha256)")
        }
    }
}
