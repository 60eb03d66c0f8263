import Errors
import OperatingSystem

/// Hugging Face's cache on this machine, in huggingface_hub's layout, so that both share files:
///
///     models--ORG--NAME/refs/REVISION             the commit that the revision meant last
///     models--ORG--NAME/snapshots/COMMIT/FILE     a relative link to the blob
///     models--ORG--NAME/blobs/ETAG                the content, under its SHA-256 (or git's hash, if small)
///     .locks/models--ORG--NAME/ETAG.lock          held (flock) while a blob is fetched
package struct HubCache: Sendable {
    package let folder: String

    package init(folder: String) { self.folder = folder }

    func repository(_ id: RepositoryID) -> String { Paths.join(folder, id.folderName) }

    func snapshot(_ id: RepositoryID, commit: String) -> String {
        Paths.join(repository(id), "snapshots/\(commit)")
    }

    func blob(_ id: RepositoryID, _ etag: String) -> String { Paths.join(repository(id), "blobs/\(etag)") }

    /// Path of the part of a blob being fetched.
    static func part(ofBlob blob: String) -> String { blob + ".incomplete" }

    func reference(_ id: RepositoryID) -> String { Paths.join(repository(id), "refs/\(id.revision)") }

    /// Folder of the locks of a repository's blobs.
    func locks(_ id: RepositoryID) -> String { Paths.join(folder, ".locks/\(id.folderName)") }

    /// The commit of the id's revision when last requested; nil if it never was.
    package func commit(of id: RepositoryID) -> String? {
        if id.isCommit { return id.revision }
        guard let text = Files.text(of: reference(id), limit: 100) else { return nil }
        let commit = text.split(whereSeparator: \.isWhitespace).first.map(String.init) ?? ""
        return RepositoryID.isCommit(commit) ? commit : nil
    }

    /// The folder of a complete model; nil if it is missing or incomplete.
    package func folder(of id: RepositoryID) -> String? {
        guard let commit = commit(of: id) else { return nil }
        let folder = snapshot(id, commit: commit)
        return ModelFiles.lack(in: folder) == nil ? folder : nil
    }

    /// The reason why `folder(of:)` is nil, as the beginning of a sentence.
    func absence(of id: RepositoryID) -> Message {
        if let commit = commit(of: id), case let folder = snapshot(id, commit: commit),
            Files.kind(of: folder) == .folder, let lack = ModelFiles.lack(in: folder)
        {
            return "it is incomplete on this machine (\(lack) is missing)"
        }
        return "it is not on this machine"
    }

    /// A repository with files here.
    package struct Entry: Sendable {
        package let id: RepositoryID
        /// Bytes of its blobs, unfinished ones included.
        package let size: Int
        /// Whether a snapshot of it is complete.
        package let isComplete: Bool
    }

    /// - Throws: `UserError` if the folder exists but can't be read.
    package func entries() throws(UserError) -> [Entry] {
        guard Files.kind(of: folder) != nil else { return [] }
        let names = try explaining(.io, at: folder, "the cache can't be read", try Files.names(in: folder))
        return names.sorted().compactMap { RepositoryID(folderName: $0).map(entry) }
    }

    private func entry(_ id: RepositoryID) -> Entry {
        let blobs = Paths.join(repository(id), "blobs")
        let size = ((try? Files.names(in: blobs)) ?? []).reduce(0) {
            $0 + ((try? File.regular(Paths.join(blobs, $1)).info().size) ?? 0)
        }
        let snapshots = Paths.join(repository(id), "snapshots")
        let isComplete = ((try? Files.names(in: snapshots)) ?? []).contains {
            ModelFiles.lack(in: Paths.join(snapshots, $0)) == nil
        }
        return Entry(id: id, size: size, isComplete: isComplete)
    }

    /// Removes a repository with all its revisions.
    /// - Throws: `UserError`, also if it is missing or being fetched.
    package func remove(_ id: RepositoryID) throws(UserError) {
        let folder = repository(id)
        guard Files.kind(of: folder) == .folder else {
            throw UserError(.missing, at: "\(id)", "there is nothing of it in \(self.folder).")
        }
        let locks = locks(id)
        for name in (try? Files.names(in: locks)) ?? [] {
            guard Files.isUnlocked(Paths.join(locks, name)) != false else {
                throw UserError(.io, at: "\(id)", "it is being fetched by another process; stop that first.")
            }
        }
        for folder in [folder, locks] where Files.kind(of: folder) == .folder {
            try explaining(.io, at: folder, "can't be removed", try Files.removeFolder(folder))
        }
    }

    /// Removes the content of damaged files, so that it is fetched again. Who fetches one writes another file.
    /// - Parameter names: within the snapshot.
    package static func removeBlobs(of names: [String], in snapshot: String) throws(UserError) {
        for name in names {
            guard let blob = Files.canonicalPath(Paths.join(snapshot, name)) else { continue }
            try explaining(.io, at: blob, "can't be removed", try Files.remove(blob))
        }
    }

    /// Removes parts of blobs that are not being fetched. Called for a complete revision: the parts left are of others,
    /// mostly outdated ones. Those of huggingface_hub have names of their own, and stay.
    func removeLeftovers(of id: RepositoryID) {
        let (blobs, ending) = (Paths.join(repository(id), "blobs"), Self.part(ofBlob: ""))
        for name in (try? Files.names(in: blobs)) ?? [] where name.hasSuffix(ending) {
            let etag = String(name.dropLast(ending.count))
            guard !etag.has("."), let lock = try? OpenFolder(locks(id)).lock("\(etag).lock")
            else { continue }
            withExtendedLifetime(lock) { try? Files.remove(Paths.join(blobs, name)) }
        }
    }
}
