import Essentials
import OperatingSystem

/// What runs of few prompts began with, by the hashes of blocks: a run with one line each day can tell from it what
/// its prompts share. It decides only what is kept, so that hashes will do; no text can be had from them.
struct SeenPrefixes {
    private let folder: CacheFolder
    private let name: String
    private let head: [UInt8]
    /// The newest first.
    private let hashes: [UInt64]
    private let known: Set<UInt64>

    /// The most that are kept.
    static let limit = 4096

    init(_ folder: CacheFolder, origin: String, hash: UInt64) {
        self.folder = folder
        name = "seen-" + String(hash, radix: 16) + ".prefix"
        head = PrefixFile.head(origin + "seen\n", [])
        hashes = Self.read(try? folder.open()?.file(name), head)
        known = Set(hashes)
    }

    func contains(_ hash: UInt64) -> Bool { known.contains(hash) }

    /// Head, number of hashes, hashes, checksum. What is wrong with it means that nothing was seen.
    private static func read(_ file: OpenFile?, _ head: [UInt8]) -> [UInt64] {
        var bytes = [UInt8](repeating: 0, count: head.count + 8 * (limit + 1) + 1)
        guard let file, let count = try? bytes.withUnsafeMutableBytes({ try file.read(into: $0, at: 0) }),
            count >= head.count + 8, count < bytes.count, (count - head.count) % 8 == 0,
            bytes.starts(with: head)
        else { return [] }
        return bytes.withUnsafeBytes { bytes in
            func word(_ offset: Int) -> UInt64 {
                UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            }
            let end = count - 8
            guard word(end) == BlockChecksum.of(UnsafeRawBufferPointer(rebasing: bytes[..<end])) else {
                return []
            }
            return stride(from: head.count, to: end, by: 8).map(word)
        }
    }

    /// - Throws: `CacheFolder.Fault`, `Platform.Failure`.
    func add(_ new: ArraySlice<UInt64>) throws {
        guard !new.allSatisfy(known.contains) else { return Platform.touch(folder.path(of: name)) }
        let added = Set(new)
        var bytes = head
        for hash in (new + hashes.filter { !added.contains($0) }).prefix(Self.limit) {
            withUnsafeBytes(of: hash.littleEndian) { bytes += $0 }
        }
        let sum = bytes.withUnsafeBytes { BlockChecksum.of($0) }
        withUnsafeBytes(of: sum.littleEndian) { bytes += $0 }
        try folder.prepare(for: bytes.count)
        try folder.put(name) { try $0.write(bytes, at: 0) }
    }
}
