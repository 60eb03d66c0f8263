import Foundations

/// What pulls leave that were killed and that no later one goes on with.
extension HubCache {
    /// A part that nobody has touched for so long belongs to a revision that has gone on.
    private static let partAge = 86_400

    /// Removes drafts whose process has ended, and parts of blobs that the repository no longer wants.
    /// - Parameter wanted: ETags of the revision that was just fetched.
    func removeLeftovers(of id: RepositoryID, commit: String, except wanted: Set<String>) {
        for folder in [Paths.folder(of: reference(id)), snapshot(id, commit: commit)] {
            for name in (try? Files.names(in: folder)) ?? [] where Self.isDraftOfEndedProcess(name) {
                try? Files.remove(Paths.join(folder, name))
            }
        }
        let blobs = Paths.join(repository(id), "blobs")
        let ending = Self.part(ofBlob: "")
        for name in (try? Files.names(in: blobs)) ?? [] where name.hasSuffix(ending) {
            let etag = String(name.dropLast(ending.count))
            let path = Paths.join(blobs, name)
            guard !wanted.contains(etag), let state = Files.state(of: path),
                state.modified / 1_000_000_000 < FileState.now / 1_000_000_000 - Self.partAge,
                let lock = try? FileLock.take(self.lock(id, etag))
            else { continue }
            withExtendedLifetime(lock) { try? Files.remove(path) }
        }
    }

    /// Such as "main.4711.tmp".
    private static func isDraftOfEndedProcess(_ name: String) -> Bool {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count >= 3, Links.draftEndings.contains(String(parts[parts.count - 1])),
            let process = ResponseHead.number(parts[parts.count - 2]).flatMap(Int32.init(exactly:))
        else { return false }
        return !Links.isRunning(process)
    }
}
