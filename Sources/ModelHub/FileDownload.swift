import Foundations
import NIOCore

/// Fetches one file into the cache: under a lock, going on where an earlier attempt stopped, checked against its
/// hash, and in place in one step.
struct FileDownload {
    let client: HubClient
    let cache: HubCache
    let id: RepositoryID
    let commit: String
    let file: HubFile
    /// Told how many bytes are here, and how many of them just came. Also goes back, when a part is of no use.
    let counted: @Sendable (_ here: Int, _ fetched: Int) -> Void
    /// Told when another process is fetching the file.
    let waits: @Sendable () -> Void

    private var blob: String { cache.blob(id, file.etag) }

    /// - Throws: `HubError` or `CancellationError`.
    func run() async throws {
        do {
            for folder in [blob, cache.lock(id, file.etag), link].map(Paths.folder(of:)) {
                try Self.makeFolder(folder)
            }
            if !isHere {
                let lock = try await takeLock()
                defer { withExtendedLifetime(lock) {} }
                if !isHere { try await fetch() }
            }
            counted(file.size, 0)
            try Links.make(link, to: linkTarget)
        } catch let error as SystemFailure {
            throw HubError(.files, blob, "can't be written: \(error.reason).")
        }
    }

    private var isHere: Bool { (try? OpenFile.at(blob).state().size) == file.size }

    private var link: String { Paths.join(cache.snapshot(id, commit: commit), file.path) }
    private var linkTarget: String { "../../blobs/\(file.etag)" }

    private static func makeFolder(_ folder: String) throws(SystemFailure) {
        do { try Files.makeFolder(folder) } catch { throw SystemFailure(code: error.code) }
    }

    private func takeLock() async throws -> FileLock {
        var hasWaited = false
        while true {
            if let lock = try FileLock.take(cache.lock(id, file.etag)) { return lock }
            if !hasWaited { waits() }
            hasWaited = true
            try await Task.sleep(for: .milliseconds(200))
        }
    }

    private func fetch() async throws {
        let part = try PartFile(blob + ".incomplete")
        if part.size > file.size { try part.empty() }
        var hash = try hashed(part)
        var startsOver = false
        var failures = 0
        while true {
            do {
                if part.size < file.size { try await read(into: part, &hash) }
                guard part.size >= file.size else {
                    throw Retry.later(after: nil, "less than the whole file")
                }
                if hash.isRight() { return try part.move(to: blob) }
                guard !startsOver else {
                    try part.empty()
                    throw HubError(
                        .damaged, "\(id)",
                        "\(file.path) is not what the hub promises, twice: its hash is wrong.")
                }
                startsOver = true
                try restart(part, &hash)
            } catch Retry.fromStart where !startsOver {
                startsOver = true
                try restart(part, &hash)
            } catch let error where Patience.isFinal(error) || error is SystemFailure {
                throw error
            } catch let interrupted as Interrupted {
                // What came shows that the hub is there.
                failures = interrupted.fetched > 0 ? 1 : failures + 1
                try await client.patience.wait(after: failures, interrupted.reason, "\(id)")
            } catch {
                failures += 1
                try await client.patience.wait(after: failures, error, "\(id)")
            }
        }
    }

    /// A body that ended before its end.
    private struct Interrupted: Error {
        var fetched: Int
        var reason: any Error
    }

    private func read(into part: PartFile, _ hash: inout ContentHash) async throws {
        let (start, body) = try await client.open(file, of: id, commit: commit, from: part.size)
        if start != part.size { try restart(part, &hash) }
        var fetched = 0
        do {
            for try await chunk in body {
                try Task.checkCancellation()
                // A server that goes on after the promised end is not asked why.
                let count = min(chunk.readableBytes, file.size - part.size)
                try chunk.withUnsafeReadableBytes { bytes in
                    let bytes = UnsafeRawBufferPointer(rebasing: bytes[..<count])
                    try part.append(bytes)
                    hash.update(bytes)
                }
                fetched += count
                counted(part.size, count)
                if part.size == file.size { break }
            }
        } catch let error where Patience.isFinal(error) || error is SystemFailure {
            throw error
        } catch {
            throw Interrupted(fetched: fetched, reason: error)
        }
    }

    private func restart(_ part: PartFile, _ hash: inout ContentHash) throws(SystemFailure) {
        try part.empty()
        hash = ContentHash(etag: file.etag, size: file.size)
        counted(0, 0)
    }

    /// The hash of what an earlier attempt left.
    private func hashed(_ part: PartFile) throws(SystemFailure) -> ContentHash {
        var hash = ContentHash(etag: file.etag, size: file.size)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 64)
        defer { buffer.deallocate() }
        var offset = 0
        while offset < part.size {
            let count = try part.read(into: buffer, at: offset)
            if count == 0 { break }
            hash.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            offset += count
        }
        counted(part.size, 0)
        return hash
    }
}
