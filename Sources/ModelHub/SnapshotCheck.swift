import FoundationShim
import OperatingSystem

import struct Synchronization.Atomic

/// Comparison of a file of a model in Hugging Face's cache with the hash in its name.
package enum FileVerdict: Sendable, Equatable {
    case right
    /// There is no hash to compare with.
    case unknown
    /// The difference from the published file; ends a sentence that begins with the file.
    case wrong(String)
}

extension HubCache {
    /// Reads all files of a model, some at the same time.
    /// - Parameter report: receives the bytes read so far, and all, on any thread.
    /// - Returns: the verdict on each file, in order of name; nil if the folder is not in a cache, as there are no
    ///   hashes.
    package static func verdicts(
        on folder: String, threads: Int = Processors.count,
        report: @escaping @Sendable (_ done: Int, _ total: Int) -> Void = { _, _ in }
    ) -> [(name: String, verdict: FileVerdict)]? {
        guard let home = Files.canonicalPath(folder),
            Paths.name(of: Paths.folder(of: home)) == "snapshots",
            let all = try? Files.names(in: home).sorted()
        else { return nil }
        let names = all.filter { Files.kind(of: Paths.join(home, $0)) != .folder }
        let total = names.reduce(0) { $0 + (Files.info(of: Paths.join(home, $1))?.size ?? 0) }
        let verdicts = Mutex([FileVerdict](repeating: .unknown, count: names.count))
        let done = Atomic(0)
        onThreads(threads, count: names.count) { number in
            let verdict = verdict(on: Paths.join(home, names[number])) { count in
                report(done.add(count, ordering: .relaxed).newValue, total)
            }
            verdicts.withLock { $0[number] = verdict }
        }
        return zip(names, verdicts.withLock { $0 }).map { ($0, $1) }
    }

    private static func verdict(on path: String, _ report: (Int) -> Void) -> FileVerdict {
        guard Files.isLink(path) else { return .unknown }
        guard let blob = Files.canonicalPath(path) else {
            return .wrong("is a link to a file that is not there. Fetch the model again.")
        }
        guard Paths.name(of: Paths.folder(of: blob)) == "blobs" else { return .unknown }
        do {
            let file = try File.regular(blob)
            let isRight = try file.hasHash(etag: Paths.name(of: blob)) { count in
                report(count)
                return true
            }
            guard let isRight else { return .unknown }
            let size = try file.info().size
            return isRight
                ? .right
                : .wrong(
                    "is not what was published: its \(size) bytes have another hash than the one it is named by. "
                        + "\"phibatch pull --verify\" fetches it again.")
        } catch {
            return .wrong(error.message)
        }
    }
}

extension File {
    /// Whether it has the hash that the hub publishes as its ETag. Large files: SHA-256 of the content. Small files:
    /// git's hash, SHA-1 of a head with the size and the content.
    /// - Parameter goesOn: receives the number of bytes read.
    /// - Returns: nil for a mirror's own tag, which can't be checked.
    func hasHash(etag: String, goesOn: (Int) -> Bool) throws(UserError) -> Bool? {
        let expected = etag.lowercased()
        guard expected.wholeMatch(of: /[0-9a-f]{40}|[0-9a-f]{64}/) != nil else { return nil }
        var hash = SHA.sha256()
        if expected.utf8.count == 40 {
            hash = .sha1()
            hash.update("blob \(try info().size)\0".utf8)
        }
        try forEachPiece {
            hash.update($0)
            return goesOn($0.count)
        }
        return FileHash.hexadecimal(hash.finalize()) == expected
    }
}
