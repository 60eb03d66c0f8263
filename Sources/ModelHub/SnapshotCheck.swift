import FoundationShim
import OperatingSystem

import struct Synchronization.Atomic

/// Compares the files of a model in Hugging Face's cache with the hashes in their names.
package struct SnapshotCheck: Sendable {
    package enum Verdict: Sendable, Equatable {
        case right
        /// There is no hash to compare with.
        case unknown
        /// The difference from the published file; ends a sentence that begins with the file.
        case wrong(String)
    }

    /// Sorted.
    package let names: [String]
    private let folder: String

    /// - Returns: nil if the folder is not in the cache, as there are no hashes.
    package init?(folder: String) {
        guard let home = Files.canonicalPath(folder),
            Paths.name(of: Paths.folder(of: home)) == "snapshots",
            let names = try? Files.names(in: home)
        else { return nil }
        self.folder = home
        self.names = names.sorted().filter { Files.kind(of: Paths.join(home, $0)) != .folder }
    }

    /// Bytes of all files to read.
    package var byteCount: Int {
        names.reduce(0) { $0 + ((try? OpenFile.at(Paths.join(folder, $1)).info().size) ?? 0) }
    }

    /// Reads all files, some at the same time.
    /// - Parameter report: receives the bytes read so far, on any thread.
    package func verdicts(
        threads: Int = Processors.count, report: @escaping @Sendable (Int) -> Void = { _ in }
    ) -> [Verdict] {
        let verdicts = Mutex([Verdict](repeating: .unknown, count: names.count))
        let done = Atomic(0)
        onThreads(threads, count: names.count) { number in
            let verdict = verdict(on: names[number]) { count in
                report(done.add(count, ordering: .relaxed).newValue)
            }
            verdicts.withLock { $0[number] = verdict }
        }
        return verdicts.withLock { $0 }
    }

    private func verdict(on name: String, _ report: (Int) -> Void) -> Verdict {
        let path = Paths.join(folder, name)
        guard Files.isLink(path) else { return .unknown }
        guard let blob = Files.canonicalPath(path) else {
            return .wrong("is a link to a file that is not there. Fetch the model again.")
        }
        guard Paths.name(of: Paths.folder(of: blob)) == "blobs" else { return .unknown }
        do {
            let file = try OpenFile.at(blob)
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
            return .wrong("\(error.reason).")
        }
    }
}

extension OpenFile {
    /// Whether it has the hash that the hub publishes as its ETag. Large files: SHA-256 of the content. Small files:
    /// git's hash, SHA-1 of a head with the size and the content.
    /// - Parameter goesOn: receives the number of bytes read.
    /// - Returns: nil for a mirror's own tag, which can't be checked.
    func hasHash(etag: String, goesOn: (Int) -> Bool) throws(SystemError) -> Bool? {
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
