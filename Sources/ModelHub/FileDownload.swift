import Errors
import FoundationShim
import OperatingSystem

/// Fetches one blob into the cache: under a lock, going on where an earlier attempt stopped, checked against its
/// hash, and in place in one step.
struct FileDownload {
    let client: HubClient
    let cache: HubCache
    /// The repository's, below which all is made but the lock.
    let folder: OpenFolder
    let id: RepositoryID
    let commit: String
    let file: HubFile
    /// The files of the repository that have this content, `file` among them.
    let paths: [String]
    /// Told how many bytes are here, and how many of them just came. Also goes back, when a part is of no use.
    let counted: @Sendable (_ here: Int, _ fetched: Int) -> Void
    /// Told when another process is fetching the file.
    let waits: @Sendable () -> Void

    private var blob: String { cache.blob(id, file.etag) }

    /// - Throws: `HubError` or `CancellationError`.
    func run() throws {
        do {
            if !isHere {
                let lock = try FileLock.taken(
                    "\(file.etag).lock", in: OpenFolder(cache.locks(id)), client.stop, waits: waits)
                defer { withExtendedLifetime(lock) {} }
                if !isHere { try fetch() }
            }
            counted(file.size, 0)
            for path in paths {
                let up = String(repeating: "../", count: 2 + path.utf8.count { $0 == UInt8(ascii: "/") })
                try folder.link("snapshots/\(commit)/\(path)", to: "\(up)blobs/\(file.etag)")
            }
        } catch let error as Files.Failure {
            throw HubError(.files, blob, "can't be written: \(error.reason).")
        }
    }

    private var isHere: Bool { (try? OpenFile.at(blob).state().size) == file.size }

    private func fetch() throws {
        let part = try PartFile(HubCache.part(ofBlob: file.etag), in: folder.folder("blobs"))
        for _ in 1...2 {
            if part.size > file.size { try part.empty() }
            counted(part.size, 0)
            try client.tries("\(id)", part) { try read(into: part) }
            if try isRight() { return try part.move(to: file.etag) }
            try part.empty()
        }
        throw HubError(
            .damaged, "\(id)", "\(file.path) is not what the hub promises, twice: its hash is wrong.")
    }

    /// - Throws: `Retry` or `WebFailure` if another try may bring the rest.
    private func read(into part: PartFile) throws {
        let begun = part.size
        guard begun < file.size else { return }
        do {
            try client.read(file, of: id, commit: commit, from: begun) { start in
                if start != begun { try restart(part) }
            } body: { bytes in
                // A server that goes on after the promised end is not asked why.
                let wanted = UnsafeRawBufferPointer(rebasing: bytes.prefix(file.size - part.size))
                try part.append(wanted)
                counted(part.size, wanted.count)
                return wanted.count == bytes.count
            }
        } catch Retry.fromStart(let path) {
            try restart(part)
            throw Retry.fromStart(path)
        }
        guard part.size == file.size else {
            throw Retry.later(after: nil, "the hub sends less than the whole of \(file.path)")
        }
    }

    private func restart(_ part: PartFile) throws(Files.Failure) {
        try part.empty()
        counted(0, 0)
    }

    /// Whether what has come is what the hub promises.
    private func isRight() throws -> Bool {
        do {
            let part = try OpenFile.at(HubCache.part(ofBlob: blob))
            let fits = try ContentHash.fits(part, etag: file.etag) { _ in !client.stop.isSet }
            try client.stop.check()
            return fits ?? true
        } catch let error as FileFault {
            throw HubError(.files, error.path, "\(error.reason).")
        }
    }
}

extension FileLock {
    /// Waits until it can be had.
    /// - Parameter waits: told if that is not at once.
    /// - Throws: `Files.Failure`, `CancellationError`.
    static func taken(_ name: String, in folder: OpenFolder, _ stop: Stop, waits: () -> Void) throws
        -> FileLock
    {
        var hasWaited = false
        while true {
            if let lock = try take(name, in: folder) { return lock }
            if !hasWaited { waits() }
            hasWaited = true
            try stop.sleep(0.2)
        }
    }
}
