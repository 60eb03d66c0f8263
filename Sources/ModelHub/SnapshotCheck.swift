import Essentials
import OperatingSystem
import Synchronization

/// Compares the files of a model in Hugging Face's cache with the hashes they are named by.
package struct SnapshotCheck: Sendable {
    package enum Verdict: Sendable, Equatable {
        case right
        /// There is no hash to compare with.
        case unknown
        /// Why it is not what was published; ends a sentence that begins with the file.
        case wrong(String)
    }

    /// In order of names.
    package let names: [String]
    private let folder: String

    /// - Returns: nil if the folder is none of the cache: then there are no hashes.
    package init?(folder: String) {
        guard let home = Files.canonicalPath(folder),
            Paths.name(of: Paths.folder(of: home)) == "snapshots",
            let names = try? Files.names(in: home)
        else { return nil }
        self.folder = home
        self.names = names.sorted().filter { Files.kind(of: Paths.join(home, $0)) != .folder }
    }

    /// Bytes of all files that will be read.
    package var byteCount: Int {
        names.reduce(0) { $0 + ((try? OpenFile.at(Paths.join(folder, $1)).state().size) ?? 0) }
    }

    /// Reads all files, some at the same time.
    /// - Parameter report: bytes read so far, on any thread.
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
            let size = try file.state().size
            var hash = ContentHash(etag: Paths.name(of: blob), size: size)
            guard hash.isKnown else { return .unknown }
            try read(file) { bytes in
                hash.update(bytes)
                report(bytes.count)
            }
            return hash.isRight()
                ? .right
                : .wrong(
                    "is not what was published: its \(size) bytes have another hash than the one it is named by. "
                        + "\"phibatch pull --verify\" fetches it again.")
        } catch {
            return .wrong("\(error.reason).")
        }
    }

    private func read(
        _ file: OpenFile, _ body: (UnsafeRawBufferPointer) -> Void
    ) throws(FileFault) {
        file.expectReadsInOrder()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 64)
        defer { buffer.deallocate() }
        var offset = 0
        while case let count = try file.read(into: buffer, at: offset), count > 0 {
            body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            offset += count
        }
    }
}

/// Checks a file against the hash that the hub promises as its ETag.
struct ContentHash {
    /// Large files: SHA-256 of the content. Small files: git's hash, SHA-1 of a head with the size and the content. Nil
    /// for a mirror's own tag: nothing to check.
    private var hash: SHA?
    private let expected: String

    /// - Parameter size: of the whole content, in bytes.
    init(etag: String, size: Int) {
        expected = etag.lowercased()
        guard expected.utf8.allSatisfy(\.isHexadecimal) else { return }
        switch etag.utf8.count {
        case 64: hash = .sha256()
        case 40:
            hash = .sha1()
            hash?.update("blob \(size)\0".utf8)
        default: break
        }
    }

    /// Whether there is anything to check.
    var isKnown: Bool { hash != nil }

    mutating func update(_ bytes: UnsafeRawBufferPointer) { hash?.update(bytes) }

    /// Whether all bytes together are what the ETag promises.
    func isRight() -> Bool { hash.map { FileHash.hexadecimal($0.finalize()) == expected } ?? true }
}
