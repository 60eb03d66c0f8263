import Foundation

/// The folder a conversion writes to. Every file is first written under a name that no reader looks for;
/// at the end all are renamed, the weights last, so that a folder with weights is always complete.
struct ConversionFolder {
    static let weightsName = "model.safetensors"
    private static let partialSuffix = ".partial"
    private static let tokenizerNames = [
        "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json",
        "chat_template.jinja", "generation_config.json",
    ]

    private let path: String

    /// - Throws: `ModelError`: `badRequest` if there is a checkpoint already and it is not to be
    ///   overwritten, `resources` if the folder can't be made.
    init(_ folder: URL, overwrite: Bool) throws {
        path = folder.path(percentEncoded: false)
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        } catch {
            throw ModelError(.resources, path: path, "can't be made: \(error.localizedDescription)")
        }
        if !overwrite, let name = try checkpointFiles().first {
            throw ModelError(
                .badRequest, path: path,
                "holds a checkpoint already (\(name)); choose another folder, or allow overwriting.")
        }
    }

    /// The files of `folder` that make up a tokenizer.
    static func tokenizerFiles(in folder: URL) throws -> [(name: String, content: Data)] {
        let folderPath = folder.path(percentEncoded: false)
        var files: [(name: String, content: Data)] = []
        for name in tokenizerNames {
            let path = folderPath + "/" + name
            guard FileManager.default.fileExists(atPath: path) else { continue }
            files.append((name, try MappedFile(path: path).withBytes { Data($0) }))
        }
        guard files.contains(where: { $0.name == "tokenizer.json" }) else {
            throw ModelError(.missing, path: folderPath, "holds no tokenizer.json.")
        }
        return files
    }

    func partialPath(_ name: String) -> String { path + "/" + name + Self.partialSuffix }

    func write(_ content: Data, name: String) throws {
        do {
            guard FileManager.default.createFile(atPath: partialPath(name), contents: nil),
                let handle = FileHandle(forWritingAtPath: partialPath(name))
            else { throw ModelError(.resources, path: path + "/" + name, "can't be created.") }
            defer { try? handle.close() }
            try handle.write(contentsOf: content)
            try handle.synchronize()
        } catch let error as ModelError { throw error } catch {
            throw ModelError(
                .resources, path: path + "/" + name, "can't be written: \(error.localizedDescription)")
        }
    }

    /// Puts the partial files `names`, and last the weights, in the place of what is there.
    func complete(_ names: [String]) throws {
        // Of an earlier checkpoint nothing may stay: its shards, its index, its template would be read too.
        for old in try checkpointFiles() {
            do { try FileManager.default.removeItem(atPath: path + "/" + old) } catch {
                throw ModelError(
                    .resources, path: path + "/" + old, "can't be removed: \(error.localizedDescription)")
            }
        }
        for name in names + [Self.weightsName] {
            do throws(Platform.Failure) {
                try Platform.replace(path + "/" + name, with: partialPath(name))
            } catch {
                throw ModelError(
                    .resources, path: path + "/" + name, "can't be put in place: \(error.reason).")
            }
        }
    }

    func removePartialFiles() {
        for name in (Self.tokenizerNames + ["config.json", Self.weightsName]) {
            Platform.removeFile(partialPath(name))
        }
    }

    /// Weights first: what is removed first leaves the folder without a checkpoint, not with half of one.
    private func checkpointFiles() throws -> [String] {
        do {
            let names = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
            let weights = names.filter { $0.hasPrefix("model") && $0.hasSuffix(".safetensors") }
            let others = ["config.json", TensorStore.indexName] + Self.tokenizerNames
            return weights + others.filter { names.contains($0) }
        } catch {
            throw ModelError(.missing, path: path, "can't be listed: \(error.localizedDescription)")
        }
    }
}
