import OperatingSystem

/// What pulls leave that were killed and that no later one goes on with.
extension HubCache {
    /// huggingface_hub's own parts have random names, and it may be fetching without a lock.
    private static let foreignAge = 86_400

    /// Removes drafts whose process has ended, and parts of blobs that nobody is fetching. To be called when a revision is
    /// here with all it needs: a part that is left then is of another one, and most often of one that has gone on.
    func removeLeftovers(of id: RepositoryID, commit: String) {
        for folder in [Paths.folder(of: reference(id)), snapshot(id, commit: commit)] {
            for name in (try? Files.names(in: folder)) ?? [] where Self.isDraftOfEndedProcess(name) {
                try? Files.remove(Paths.join(folder, name))
            }
        }
        let blobs = Paths.join(repository(id), "blobs")
        let ending = Self.part(ofBlob: "")
        for name in (try? Files.names(in: blobs)) ?? [] where name.hasSuffix(ending) {
            let path = Paths.join(blobs, name)
            let parts = name.dropLast(ending.count).split(at: ".")
            let latest = FileState.now - (parts.count == 1 ? 0 : Self.foreignAge * 1_000_000_000)
            guard let etag = parts.first, let state = Files.state(of: path), state.modified <= latest,
                let lock = try? takeLock(id, String(etag))
            else { continue }
            withExtendedLifetime(lock) { try? Files.remove(path) }
        }
    }

    /// Such as "main.4711.tmp".
    private static func isDraftOfEndedProcess(_ name: String) -> Bool {
        let parts = name.split(at: ".", keepingEmpty: true)
        guard parts.count >= 3, OpenFolder.draftEndings.contains(String(parts[parts.count - 1])),
            let process = ResponseHead.number(parts[parts.count - 2]).flatMap(Int32.init(exactly:))
        else { return false }
        return !Processes.isRunning(process)
    }
}
