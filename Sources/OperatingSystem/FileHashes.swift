import Errors
import FoundationShim

/// Hashes of large files, kept between runs, so that gigabytes are read only once.
///
/// A hashed file is recognized by device, inode, size and times. If it was changed just before it was hashed, it is
/// hashed again next time, as a further change might not show in its times.
package struct FileHashes: Sendable {
    /// Nil if nothing is kept.
    private let folder: String?
    private let smallest: Int
    private let now: @Sendable () -> Int

    private static let folderName = "hashes"
    /// The most hashes kept; beyond it the oldest are removed.
    private static let countLimit = 512
    static let head = Array("phibatch file hash 1\n".utf8)

    /// - Parameters:
    ///   - cache: the folder in which our own folder is created; nil keeps nothing.
    ///   - smallest: smaller files, in bytes, are hashed each time, which is as fast.
    ///   - now: a clock, in nanoseconds since 1970.
    package init(
        cache: String?, smallest: Int = 1 << 20, now: @escaping @Sendable () -> Int = { FileInfo.now }
    ) {
        folder = cache.map { $0 + "/" + Self.folderName }
        self.smallest = smallest
        self.now = now
    }

    /// - Parameters:
    ///   - threads: number of files read at a time.
    ///   - willRead: called with the bytes of the files without known hashes, if there are any.
    /// - Returns: the hash of each path's file, links followed.
    /// - Throws: `UserError` of the first file that can't be read, changes meanwhile, or differs from the hash in its
    ///   name in Hugging Face's cache.
    package func hashes(
        of paths: [String], threads: Int = Processors.usable,
        willRead: (Int) -> Void = { _ in }
    ) throws(UserError) -> [FileHash] {
        var files: [(file: File, kept: FileHash?)] = []
        var unknown = 0
        for path in paths {
            let file = try File.regular(path)
            let state = try file.info()
            let kept = state.size < smallest ? nil : kept(state)
            if kept == nil { unknown += state.size }
            files.append((file, kept))
        }
        if unknown > 0 { willRead(unknown) }
        let all = files
        let results = Mutex([Result<FileHash, UserError>?](repeating: nil, count: all.count))
        onThreads(threads, count: all.count) { index in
            let result = Result { () throws(UserError) in
                if let kept = all[index].kept { return kept }
                return try read(all[index].file)
            }
            results.withLock { $0[index] = result }
        }
        var hashes: [FileHash] = []
        for result in results.withLock({ $0 }) { if let result { hashes.append(try result.get()) } }
        return hashes
    }

    private func read(_ file: File) throws(UserError) -> FileHash {
        let begin = now()
        let hash = try FileHash(of: file)
        if let promised = FileHash.promised(by: file.path), promised != hash.sha256 {
            throw UserError(
                .io, at: file.path,
                "does not hold what its name in the Hugging Face cache says (SHA-256 \(promised)). It is "
                    + "damaged, or not whole: download it again.")
        }
        if hash.state.size >= smallest, hash.state.isSettled(at: begin) { keep(hash) }
        return hash
    }

    /// Returns the reason why hashes are not kept in the cache; nil if they can be.
    package static func fault(in cache: String) -> SystemError? {
        do throws(SystemError) {
            _ = try OpenFolder(own: cache + "/" + folderName)
            return nil
        } catch {
            return error.isNotFound ? nil : error
        }
    }

    // MARK: The folder

    private static func name(of state: FileInfo) -> String {
        "\(String(state.identity.device, radix: 16))-\(String(state.identity.inode, radix: 16)).hash"
    }

    /// Returns a kept hash's text, which ends in its own checksum.
    private static func text(of hash: FileHash) -> [UInt8] {
        let state = hash.state
        let line =
            head
            + Array(
                "\(state.identity.device) \(state.identity.inode) \(state.size) \(state.modified) \(state.changed) \(hash.sha256)\n"
                    .utf8)
        return line + Array((FileHash.hexadecimal(SHA.sha256(of: line).prefix(8)) + "\n").utf8)
    }

    private func kept(_ state: FileInfo) -> FileHash? {
        // A forged hash would pass a changed model for the original.
        guard let folder, let file = try? OpenFolder(own: folder).ownFile(Self.name(of: state)) else {
            return nil
        }
        guard let bytes = try? file.bytes(0..<1024) else { return nil }
        let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
        guard lines.count == 4, let last = lines[1].split(separator: 0x20).last else { return nil }
        let hash = FileHash(state: state, sha256: String(decoding: last, as: UTF8.self))
        // Only the hash is parsed: with it and the state, the text must be what we would write.
        return bytes == Self.text(of: hash) ? hash : nil
    }

    /// Failing to keep it is harmless: the next start reads the file again.
    private func keep(_ hash: FileHash) {
        guard let folder, (try? Files.makeFolder(folder, mode: 0o700)) != nil,
            (try? OpenFolder(own: folder)) != nil
        else { return }
        let path = folder + "/" + Self.name(of: hash.state)
        guard Files.isAbsent(path) || Files.begins(path, with: Self.head) else { return }
        do {
            let file = try File.draft(Files.draftName(for: path), mode: 0o600)
            try file.write(Self.text(of: hash))
            try file.move(to: path)
            removeOldest(in: folder)
        } catch {}
    }

    private func removeOldest(in folder: String) {
        guard let names = try? Files.names(in: folder), names.count > Self.countLimit else { return }
        let own = names.filter { $0.hasSuffix(".hash") || $0.hasSuffix(".draft") }.map { folder + "/" + $0 }
            .filter { Files.begins($0, with: Self.head) }
            .compactMap { path in
                (try? FileInfo(ofEntry: path)).map { (path: path, size: 1, used: $0.changed) }
            }
        Files.removeUnused(own, beyond: Self.countLimit, but: "")
    }
}
