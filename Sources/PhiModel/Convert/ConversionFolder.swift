import FoundationShim
import OperatingSystem

/// The folder a conversion writes to. Every file is first written under a name that no reader looks for;
/// at the end all are renamed, the weights last, so that a folder with weights is always complete.
final class ConversionFolder {
    static let weightsName = "model.safetensors"
    private static let tokenizerNames = [
        "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json",
        "chat_template.jinja", "generation_config.json", "cl100k_base.tiktoken",
    ]
    /// Files that other programs read of a tokenizer.
    private static let otherNames = ["chat_template.json", "tokenizer.model", "vocab.json", "merges.txt"]

    private let folder: String
    private let mayOverwrite: Bool
    /// After the name of each file that is not in place yet; another one for each conversion.
    private let suffix: String
    /// Locked until the end, so that they are not taken for what a killed conversion left.
    private var files: [(name: String, file: File)] = []

    /// - Parameter sources: the files that are read; none of them must be one that will be replaced.
    /// - Throws: `UserError`: `badRequest` if there is a model already and it is not to be
    ///   overwritten, `resources` if the folder can't be made.
    init(_ folder: String, sources: [String], overwrite: Bool) throws {
        self.folder = folder
        mayOverwrite = overwrite
        let tag = String(UInt64.random(in: 1 << 60 ... .max), radix: 16)
        suffix = ".phibatch-\(tag).partial"
        try explaining(.resources, at: folder, "can't be made", try Files.makeFolder(folder))
        if !overwrite { try refuseModel() }
        let identities = sources.map { ($0, Files.identity(of: $0)) }
        for name in try modelFiles() {
            let identity = Files.identity(of: path(name))
            guard let (source, _) = identities.first(where: { $0.1 == identity }) else { continue }
            throw UserError(
                .badRequest, at: source, "is itself a file that would be replaced; choose another folder.")
        }
        removeLeftovers()
    }

    /// The files of `folder` that make up a tokenizer.
    static func tokenizerFiles(in folder: String) throws -> [(name: String, content: Data)] {
        let files = try contents(of: tokenizerNames, in: folder)
        guard files.contains(where: { $0.name == "tokenizer.json" }) else {
            throw UserError(.missing, at: folder, "holds no tokenizer.json.")
        }
        return files
    }

    /// The files beside the weights that go with a model: its tokenizer's, and the code that its config.json may
    /// name, which nothing here runs.
    static func companions(in folder: String) throws -> [(name: String, content: Data)] {
        try contents(of: companionNames(in: folder), in: folder)
    }

    static func companionNames(in folder: String) -> [String] {
        let code = ((try? Files.names(in: folder)) ?? []).filter { $0.hasSuffix(".py") }.sorted()
        return tokenizerNames + otherNames + code
    }

    /// The contents of those that are there.
    private static func contents(
        of names: [String], in folder: String
    ) throws -> [(name: String, content: Data)] {
        try names.compactMap { name in
            let path = Paths.join(folder, name)
            guard Files.kind(of: path) != nil else { return nil }
            return (name, try MappedFile(path: path).withBytes { Data($0) })
        }
    }

    /// Whether a file is one that a conversion, under way or killed, writes.
    static func isPartial(_ name: String) -> Bool {
        name.wholeMatch(of: /.+\.phibatch-[0-9a-f]{16}\.partial/) != nil
    }

    func path(_ name: String) -> String { Paths.join(folder, name) }

    /// The file that will have this name, made under another one.
    func newFile(_ name: String) throws -> File {
        let file = try explaining(.resources, try File.draft(path(name + suffix)))
        files.append((name, file))
        return file
    }

    func write(_ content: Data, name: String) throws {
        let file = try newFile(name)
        try explaining(.resources, try file.write(Array(content)))
        try explaining(.resources, try file.sync())
    }

    /// Puts the files `names`, and last the weights, in the place of what is there.
    func complete(_ names: [String], weights: [String] = [ConversionFolder.weightsName]) throws {
        if !mayOverwrite { try refuseModel() }
        // Nothing of an earlier model may stay: its shards, its index, its template would be read too.
        for old in try modelFiles() {
            try explaining(.resources, at: path(old), "can't be removed", try Files.remove(path(old)))
        }
        for name in names + weights {
            guard let place = files.firstIndex(where: { $0.name == name }) else {
                preconditionFailure("only files that were written are put in place")
            }
            try explaining(.resources, try files[place].file.move(to: path(name)))
            files.remove(at: place)
        }
    }

    func removePartialFiles() {
        for (_, file) in files { try? file.remove() }
        files = []
    }

    /// Removes files that a killed conversion left: known by their names, and by nobody's holding their locks.
    private func removeLeftovers() {
        for name in (try? Files.names(in: folder)) ?? [] {
            if Self.isPartial(name), Files.isUnlocked(path(name)) == true { try? Files.remove(path(name)) }
        }
    }

    private func refuseModel() throws {
        guard let name = try modelFiles().first else { return }
        throw UserError(
            .badRequest, at: folder,
            "holds a checkpoint already (\(name)); choose another folder, or allow overwriting.")
    }

    /// Weights first: what is removed first leaves the folder without a model, not with half of one.
    private func modelFiles() throws -> [String] {
        do {
            let names = try Files.names(in: folder).sorted()
            let weights = names.filter { $0.hasPrefix("model") && $0.hasSuffix(".safetensors") }
            let others = ["config.json", TensorStore.indexName] + Self.tokenizerNames + Self.otherNames
            return weights + others.filter { names.contains($0) }
        } catch {
            throw UserError(.missing, at: folder, "can't be listed: \(error.reason).")
        }
    }
}
