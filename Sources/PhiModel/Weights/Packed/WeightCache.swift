import Errors
import FoundationShim
import OperatingSystem

/// The folder of packed weights, one file for each model folder. Other files in it are never touched: only files with
/// our names and our beginning are counted, replaced or removed.
///
/// A file is written under another name, then put in place, and never changed. So concurrent processes don't disturb
/// each other, and one that uses a replaced file still has it open.
struct WeightCache {
    private static let mark = WeightFile.mark

    let path: String
    /// Bytes of all files together. Beyond it, the least recently used are removed.
    private let limit: Int
    /// Bytes of the disk left free for results.
    private let reserve: Int

    /// - Parameter parent: the cache folder.
    init(parent: String, limit: Int = 32_000_000_000, reserve: Int = 1_000_000_000) {
        (path, self.limit, self.reserve) = (parent + "/weights", limit, reserve)
    }

    /// Returns the weights from the folder; packs them into it first if they aren't there.
    /// - Parameter notes: receives messages for a person.
    /// - Throws: `SystemError`, or `UserError` of kind `io` or `cannotWrite`, if the folder can't be used; `UserError` of another
    ///   kind if the model's files can't be read, change meanwhile, or have a value that is not finite.
    func weights(
        of plan: WeightPlan, from store: TensorStore, pool: ComputePool, notes: inout [String]
    ) throws -> WeightFile {
        let hashes = FileHashes(cache: Paths.folder(of: path))
        let source = try store.sources.identity(hashes, threads: pool.threads)
        let contents = WeightFile.Contents(plan, from: source)
        let name = Self.name(of: store)
        let path = self.path(of: name)
        if let folder = try open() {
            do throws(SystemError) {
                if let file = WeightFile(try folder.ownFile(name), contents: contents, pool: pool) {
                    Files.touch(path)
                    return file
                }
            } catch {
                // Packed anew, replacing the file.
                if !error.isNotFound { notes.append("\(error)") }
            }
        }
        try prepare(for: contents.fileSize)
        try put(name) { new in
            try WeightFile.write(contents, to: new, pool: pool)
            guard try store.sources.identity(hashes, threads: pool.threads) == source else {
                throw UserError(
                    .malformed, at: store.folder,
                    "changed while it was loaded. Run again once it is whole.")
            }
            // Mapped data must be on the disk: some file systems report only here that it is full.
            try new.sync()
        }
        let files = own(isFinished).compactMap { path in
            let state = try? File.regular(path, followsLinks: false).info()
            return state.map { (path: path, size: $0.size, used: $0.modified) }
        }
        Files.removeUnused(files, beyond: limit, but: path)
        guard let open = try? open()?.ownFile(name),
            let file = WeightFile(open, contents: contents, pool: pool)
        else {
            throw SystemError(path, "was changed by another program")
        }
        return file
    }

    /// Returns the model folder's own name, for people, and a hash of its path.
    private static func name(of store: TensorStore) -> String {
        let path = Files.canonicalPath(store.folder) ?? store.folder
        let last = path.split(at: "/").last ?? ""
        let adapter = store.adapter.flatMap { $0.saved.isEmpty ? nil : $0.folder }
        let whole = path + (adapter.map { "\n" + (Files.canonicalPath($0) ?? $0) } ?? "")
        let hash = Array(whole.utf8).withUnsafeBytes { BlockChecksum.of($0) }
        return plainName(last) + "-" + String(hash, radix: 16) + ".weights"
    }

    /// Returns a name with `_` for characters that are not allowed in file names.
    static func plainName(_ name: some StringProtocol) -> String {
        String(
            name.unicodeScalars.prefix(60).map { scalar -> Character in
                scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
                    || "-_.".unicodeScalars.contains(scalar) ? Character(scalar) : "_"
            })
    }

    // MARK: Files

    private func path(of name: String) -> String { path + "/" + name }

    /// Opens the folder to read from; nil if there is none yet.
    /// - Throws: `SystemError` if others could have written its content.
    private func open() throws(SystemError) -> OpenFolder? {
        do { return try OpenFolder(own: path) } catch {
            if error.isNotFound { return nil }
            throw error
        }
    }

    // MARK: Names

    /// Whether a file's name is one of ours: NAME-HASH.weights, HASH in hexadecimal digits.
    private func isFinished(_ name: String) -> Bool {
        name.wholeMatch(of: /.*-[0-9a-f]{1,16}\.weights/.dotMatchesNewlines()) != nil
    }

    /// Whether a file may be our draft, or that of a killed process.
    private func isDraft(_ name: String) -> Bool {
        name.wholeMatch(of: /(.*)\.[0-9]+-[0-9a-f]{1,8}\.draft/).map { isFinished(String($0.1)) } ?? false
    }

    /// The paths of our files.
    private func own(_ isOurs: (String) -> Bool) -> [String] {
        ((try? Files.names(in: path)) ?? []).filter(isOurs).sorted().map { path + "/" + $0 }
            .filter { Files.begins($0, with: Self.mark) }
    }

    // MARK: Writing

    /// Creates the folder, and checks that there is room for so many more bytes.
    /// - Throws: `SystemError`.
    private func prepare(for size: Int) throws(SystemError) {
        do { try Files.makeFolder(path, mode: 0o700) } catch {
            throw SystemError(path, "can't be made", code: error.code)
        }
        _ = try open()
        removeAbandonedDrafts()
        if let free = DiskSpace.free(at: path), free - size < reserve {
            throw SystemError(
                path,
                "has \(free / 1_000_000) MB free; \(size / 1_000_000) MB are needed, "
                    + "and \(reserve / 1_000_000) MB are left for others")
        }
    }

    /// Removes drafts of killed processes. An empty one may belong to a process that has just begun; only its age
    /// tells.
    private func removeAbandonedDrafts() {
        let now = FileInfo.now
        for path in ((try? Files.names(in: path)) ?? []).filter(isDraft).map(path(of:)) {
            let state = try? File.regular(path, followsLinks: false).info()
            let isEmpty = state.map { $0.size == 0 && now - $0.modified > 60_000_000_000 } ?? false
            // A killed process may have written only a part of the mark.
            let start = Self.mark.prefix(state.flatMap { $0.size > 0 ? $0.size : nil } ?? Self.mark.count)
            guard isEmpty || Files.begins(path, with: Array(start)), Files.isUnlocked(path) == true else {
                continue
            }
            try? Files.remove(path)
        }
    }

    /// Writes a file and puts it in place.
    /// - Throws: `SystemError` if there is a foreign file at its path; the errors of `write`.
    private func put(_ name: String, _ write: (File) throws -> Void) throws {
        let path = path(of: name)
        guard Files.isAbsent(path) || Files.begins(path, with: Self.mark) else {
            throw SystemError(path, "was not made by phibatch; move it away")
        }
        let new = try File.draft(Files.draftName(for: path), mode: 0o600)
        // At once, so that what a killed process leaves can be known for ours.
        try new.write(Self.mark)
        try write(new)
        try new.move(to: path)
    }
}
