import OperatingSystem

/// A model as other programs publish it: a GGUF file, or a folder that one of them has quantized. It is converted to a
/// folder in the cache once, which is then the model that runs.
///
/// The folder's name has a hash of what the model's files hold, so that other content is another model, wherever it
/// lies; and what runs is told from any other by the converted files, as every model is.
package struct PublishedModel {
    /// A file, or a folder.
    package let path: String
    /// Converter of a folder; nil for a GGUF file.
    private let converter: PublishedConverter?

    /// Raised with every change of what a conversion gives.
    private static let version = 1
    /// Bytes of all that is kept. Beyond it go those that were not used for longest.
    private static let limit = 64_000_000_000

    /// - Returns: nil for any other path, a model folder's in MLX's format among them.
    /// - Throws: `UserError` naming the key, for a variant that is not read; `unsupported` for a file or folder of
    ///   another kind.
    package init?(_ path: String) throws {
        switch Files.kind(of: path) {
        case .regular:
            guard Self.isGGUF(path) else {
                throw UserError(
                    .unsupported, at: path, "is no GGUF file. A model is a folder, a name, or a GGUF file.")
            }
            (self.path, converter) = (path, nil)
        case .folder:
            if let converter = try PublishedConverter(path) {
                (self.path, self.converter) = (path, converter)
            } else if let file = try Self.onlyGGUF(in: path) {
                (self.path, converter) = (file, nil)
            } else {
                return nil
            }
        case nil, .link, .other: return nil
        }
    }

    private static func isGGUF(_ path: String) -> Bool {
        (try? File.regular(path))?.begins(with: Array("GGUF".utf8)) ?? false
    }

    /// The GGUF file of a folder that holds no other model.
    /// - Throws: `UserError` of kind `unsupported` for several, or for a model in ONNX.
    private static func onlyGGUF(in folder: String) throws -> String? {
        let names = ((try? Files.names(in: folder)) ?? []).sorted()
        guard !names.contains(where: { $0.hasSuffix(".safetensors") }) else { return nil }
        let files = names.filter { $0.hasSuffix(".gguf") }
        if files.count > 1 {
            throw UserError(
                .unsupported, at: folder,
                "holds \(files.count) GGUF files; name the one that is meant, such as \(files[0]).")
        }
        if files.isEmpty, let name = names.first(where: { $0.hasSuffix(".onnx") }) {
            throw UserError(
                .unsupported, at: folder,
                "holds a model in ONNX (\(name)), which is not read; \(PublishedFormats.instead()).")
        }
        return files.first.map { Paths.join(folder, $0) }
    }

    /// As in "a GGUF file".
    package var kind: String {
        converter.map { "a folder in the format of \($0.format.name)" } ?? "a GGUF file"
    }

    /// Makes a folder of it.
    /// - Parameter tokenizer: of a GGUF file; that of a folder is its own.
    /// - Throws: as `GGUFConverter.convert`.
    package func convert(
        to folder: String, tokenizer: GGUFConverter.Tokenizer = .embedded, overwrite: Bool,
        progress: (ConversionProgress) -> Void
    ) throws -> ConversionSummary {
        guard let converter else {
            return try GGUFConverter.convert(
                file: path, to: folder, tokenizer: tokenizer, overwrite: overwrite, progress: progress)
        }
        guard tokenizer == .embedded else {
            throw UserError(.badRequest, at: path, "is a folder, whose tokenizer is copied as it is.")
        }
        return try converter.convert(to: folder, overwrite: overwrite, progress: progress)
    }

    // MARK: The cache

    /// The folder in the cache, if it was made before.
    package func cached(in cache: WeightCacheLocation) -> String? {
        guard let parent = try? parent(cache), let folder = try? folder(in: parent), isWhole(folder) else {
            return nil
        }
        return folder
    }

    /// The folder in the cache, made now if it is not there.
    /// - Parameters:
    ///   - begins: called with the folder's path before it is made.
    ///   - ends: called with what was done.
    /// - Throws: as `convert`; `UserError` of kind `unsupported` if there is no cache to use.
    package func folder(
        cache: WeightCacheLocation, begins: (String) -> Void = { _ in },
        progress: (ConversionProgress) -> Void = { _ in }, ends: (ConversionSummary) -> Void = { _ in }
    ) throws -> String {
        let parent = try parent(cache)
        let folder = try folder(in: parent)
        if !isWhole(folder) {
            begins(folder)
            ends(try make(folder, in: parent, progress))
        }
        try checkOwner(parent)
        try checkOwner(folder)
        Files.touch(folder)
        Self.removeUnused(in: parent, but: folder)
        return folder
    }

    /// Converts into a folder beside it, which is then put in place, so that what is there is always whole.
    private func make(
        _ folder: String, in parent: String, _ progress: (ConversionProgress) -> Void
    ) throws -> ConversionSummary {
        let draft = "\(folder).\(String(UInt64.random(in: 1 << 60 ... .max), radix: 16)).draft"
        do {
            try Files.makeFolder(parent, mode: 0o700)
            try Files.makeFolder(draft, mode: 0o700)
        } catch {
            throw unusable("the folder \(draft) can't be made: \(error.reason)")
        }
        defer { try? Files.removeFolder(draft) }
        try checkOwner(parent)
        let summary = try convert(to: draft, overwrite: false, progress: progress)
        do {
            try Files.rename(draft, to: folder)
        } catch  where !isWhole(folder) {
            // Somebody has taken some of its files away.
            try? Files.removeFolder(folder)
            do throws(SystemError) { try Files.rename(draft, to: folder) } catch {
                throw unusable("the folder \(folder) can't be put in place: \(error.reason)")
            }
        } catch {
            // Another process was quicker.
        }
        return summary
    }

    private func parent(_ cache: WeightCacheLocation) throws -> String {
        switch cache {
        case .folder(let folder): return Paths.join(folder, "models")
        case .off: throw unusable("the cache is off")
        case .unknown(let reason): throw unusable(reason)
        }
    }

    private func unusable(_ reason: String) -> UserError {
        UserError(
            .unsupported, at: path,
            "is \(kind), which is converted into the cache once, and \(reason). \"phibatch convert\" makes a model "
                + "folder of it.")
    }

    /// Refuses a folder that others could have written.
    private func checkOwner(_ folder: String) throws {
        do throws(SystemError) { _ = try OpenFolder(own: folder) } catch {
            throw unusable("\(error)")
        }
    }

    /// The weights are put in place last.
    private func isWhole(_ folder: String) -> Bool {
        Files.kind(of: Paths.join(folder, ConversionFolder.weightsName)) == .regular
    }

    private func folder(in parent: String) throws -> String {
        var sources = try converter?.sources() ?? SourceFiles()
        if converter == nil { sources.add([Paths.name(of: path)], in: Paths.folder(of: path)) }
        let hashes = FileHashes(cache: Paths.folder(of: parent))
        var text = try sources.identity(hashes, threads: Processors.usable)
        // One of any name is the same model.
        if converter == nil, let colon = text.firstIndex(at: ":") { text = String(text[colon...]) }
        let hash = SHA.sha256(of: Array("conversion \(Self.version)\n\(text)".utf8)).prefix(16)
        let name = WeightCache.plainName(Paths.name(of: Files.canonicalPath(path) ?? path))
        return Paths.join(parent, name + "-" + FileHash.hexadecimal(hash))
    }

    /// Removes what is beyond the limit, and what killed processes left.
    private static func removeUnused(in parent: String, but kept: String) {
        let all = ((try? Files.names(in: parent)) ?? []).map { (name: $0, path: Paths.join(parent, $0)) }
            .filter { Files.kind(of: $0.path) == .folder && !Files.isLink($0.path) }
        for draft in all where draft.name.wholeMatch(of: /.+-[0-9a-f]{32}\.[0-9a-f]{16}\.draft/) != nil {
            let files = ((try? Files.names(in: draft.path)) ?? []).filter(ConversionFolder.isPartial)
            let age = FileInfo.now - (Files.info(of: draft.path)?.modified ?? .max)
            let isAbandoned =
                files.isEmpty
                ? age > 3_600_000_000_000
                : files.allSatisfy { Files.isUnlocked(Paths.join(draft.path, $0)) == true }
            if isAbandoned { try? Files.removeFolder(draft.path) }
        }
        func size(_ folder: String) -> Int {
            ((try? Files.names(in: folder)) ?? []).reduce(0) {
                $0 + (Files.info(of: Paths.join(folder, $1))?.size ?? 0)
            }
        }
        let folders = all.filter { $0.name.wholeMatch(of: /.+-[0-9a-f]{32}/) != nil }
            .map { (path: $0.path, size: size($0.path), used: Files.info(of: $0.path)?.modified ?? 0) }
        Files.removeUnused(folders, beyond: limit, but: kept)
    }
}
