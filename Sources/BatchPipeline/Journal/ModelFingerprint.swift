import Foundation
import Foundations
import PhiModel

/// The part of a run's fingerprint that a model folder gives: each file's size and the hash of its content.
///
/// Times and paths don't count: a copied folder is the same model.
package enum ModelFingerprint {
    private static let modelFiles = ["config.json", "generation_config.json", "model.safetensors.index.json"]
    private static let tokenizerFiles = [
        "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json",
        "chat_template.jinja", "chat_template.json",
    ]

    /// - Parameters:
    ///   - hashes: keeps large files' hashes from one start to the next, or does not.
    ///   - willRead: called with the bytes of files whose hashes are not known yet, before they are read.
    /// - Returns: parts of the groups `model` and `tokenizer`, always in the same order.
    /// - Throws: `ModelError` if the folder or a file can't be read, or holds no weights.
    package static func parts(
        folder: String, hashes: FileHashes = FileHashes(cache: nil), willRead: (Int) -> Void = { _ in }
    ) throws -> [(String, String)] {
        do throws(FileFault) {
            return try parts(in: folder, hashes, willRead)
        } catch {
            throw ModelError(.missing, path: error.path, error.reason + ".")
        }
    }

    private static func parts(
        in folder: String, _ hashes: FileHashes, _ willRead: (Int) -> Void
    ) throws(FileFault) -> [(String, String)] {
        let names: [String]
        do {
            names = try Files.names(in: folder)
        } catch {
            throw FileFault(path: folder, reason: "the model folder can't be read: \(error.reason)")
        }
        let present = Set(names)
        let weights = names.filter { $0.utf8.reversed().starts(with: ".safetensors".utf8.reversed()) }
            .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        guard !weights.isEmpty else {
            throw FileFault(path: folder, reason: "the model folder has no *.safetensors file")
        }
        let files =
            (modelFiles.filter(present.contains) + weights).map { (group: "model", name: $0) }
            + tokenizerFiles.filter(present.contains).map { (group: "tokenizer", name: $0) }
        let found = try hashes.hashes(of: files.map { Paths.join(folder, $0.name) }, willRead: willRead)
        return zip(files, found).map { file, hash in
            ("\(file.group).\(file.name)", "\(hash.state.size) bytes, sha256 \(hash.sha256)")
        }
    }
}
