import OperatingSystem

/// Files of a model, as they were when they were read.
struct SourceFiles: Sendable {
    /// The name identifies the file's role, whatever its path.
    var files: [(name: String, path: String, state: FileInfo)] = []

    /// Adds existing files with their current state.
    mutating func add(_ names: [String], in folder: String) {
        for name in names {
            let path = Paths.join(folder, name)
            if let state = Files.info(of: path) { files.append((name, path, state)) }
        }
    }

    /// Returns hashes of the contents, which identify these files in this state.
    /// - Throws: `UserError` if one can't be read or is not the one that was read.
    func identity(_ hashes: FileHashes, threads: Int) throws -> String {
        let found = try explaining(
            .malformed, try hashes.hashes(of: files.map(\.path), threads: threads))
        return try zip(files, found).map { file, hash in
            guard hash.state.hasContent(of: file.state) else {
                throw UserError(
                    .malformed, at: file.path,
                    "changed while it was loaded. Run again once it is whole.")
            }
            return "file \(String(reflecting: file.name)): \(hash.state.size) bytes, sha256 \(hash.sha256)\n"
        }.joined()
    }
}

extension TensorStore {
    /// Files of its tensors.
    var sources: SourceFiles {
        SourceFiles(files: files.map { ($0.name, $0.file.file.path, $0.file.file.state) })
    }
}
