import Foundation
import Foundations

/// Where packed weights are kept from one start to the next.
public enum WeightCacheLocation: Sendable, Equatable {
    case off
    case folder(String)
    /// There should be a cache, but nothing says where; the text is why.
    case unknown(String)

    /// What a command line program uses: `PHIBATCH_CACHE` (a folder, or "off"), else
    /// `$XDG_CACHE_HOME/phibatch`, else `~/.cache/phibatch`, on macOS `~/Library/Caches/phibatch`.
    /// - Parameter environment: this process's, if not given.
    public static func standard(
        environment: [String: String]? = nil
    ) -> WeightCacheLocation {
        func value(_ name: String) -> String? {
            guard let environment else { return ProgramCall.path(inVariable: name) }
            return environment[name].flatMap { $0.isEmpty ? nil : $0 }
        }
        if let folder = value("PHIBATCH_CACHE") { return folder == "off" ? .off : .folder(folder) }
        // A relative path is to be ignored, says the specification.
        if let folder = value("XDG_CACHE_HOME"), Paths.isAbsolute(folder) {
            return .folder(folder + "/phibatch")
        }
        guard let home = value("HOME"), Paths.isAbsolute(home) else {
            return .unknown("HOME is not set; PHIBATCH_CACHE can name a folder")
        }
        #if os(macOS)
            return .folder(home + "/Library/Caches/phibatch")
        #else
            return .folder(home + "/.cache/phibatch")
        #endif
    }
}

/// The folder of packed weights: one file for each model folder.
///
/// A file is written under another name and then put in place, never changed; so processes that start
/// at once don't disturb each other, and one that goes on with a replaced file still has it mapped.
struct WeightCache {
    let folder: String
    /// Bytes of all files together. Beyond it the ones not used for longest go.
    var limit = 32_000_000_000
    /// Bytes of the disk that are left free: results need them more.
    var reserve = 1_000_000_000

    /// Why the cache can't be used.
    struct Fault: Error, CustomStringConvertible {
        let description: String
    }

    /// The weights from the folder; they are packed into it if they aren't there.
    /// - Throws: `Fault` or `Platform.Failure`.
    func weights(of plan: WeightPlan, from store: TensorStore, pool: ComputePool) throws -> WeightFile {
        let contents = WeightFile.Contents(plan, from: store)
        let name = Self.name(of: store)
        let path = folder + "/" + name
        if let file = WeightFile(path: path, contents: contents, pool: pool) {
            Platform.touch(path)
            return file
        }
        try prepare(for: contents.fileSize)
        let draft = folder + "/\(name).\(Platform.processID)-\(UInt32.random(in: 0 ... .max)).tmp"
        let new = try Platform.NewFile(path: draft)
        do {
            try WeightFile.write(contents, to: new, pool: pool)
            // What is mapped must be on the disk: some file systems report only here that it is full.
            try new.sync()
            try Platform.replace(path, with: draft)
        } catch {
            Platform.removeFile(draft)
            throw error
        }
        removeUnused(but: name)
        guard let file = WeightFile(path: path, contents: contents, pool: pool) else {
            throw Fault(description: "\(path) was changed by another program")
        }
        return file
    }

    /// The model folder's own name, for people, and a hash of its path.
    private static func name(of store: TensorStore) -> String {
        let path = Platform.canonicalPath(store.folder)
        let last = path.split(separator: "/").last ?? ""
        let plain = last.unicodeScalars.prefix(60).map { scalar -> Character in
            scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
                || "-_.".unicodeScalars.contains(scalar) ? Character(scalar) : "_"
        }
        let hash = Array(path.utf8).withUnsafeBytes { BlockChecksum.of($0) }
        return String(plain) + "-" + String(hash, radix: 16) + ".weights"
    }

    /// Makes the folder and room in it.
    private func prepare(for size: Int) throws {
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        } catch {
            throw Fault(description: "the folder \(folder) can't be made")
        }
        for name in names where name.hasSuffix(".tmp") && Platform.isAbandoned(folder + "/" + name) {
            Platform.removeFile(folder + "/" + name)
        }
        let system = try? FileManager.default.attributesOfFileSystem(forPath: folder)
        if let free = (system?[.systemFreeSize] as? NSNumber)?.intValue, free - size < reserve {
            throw Fault(
                description: "\(folder) has \(free / 1_000_000) MB free; \(size / 1_000_000) MB are needed, "
                    + "and \(reserve / 1_000_000) MB are left for others")
        }
    }

    private func removeUnused(but kept: String) {
        var files: [(name: String, size: Int, used: Date)] = []
        for name in names where name.hasSuffix(".weights") {
            guard let found = try? FileManager.default.attributesOfItem(atPath: folder + "/" + name),
                let size = (found[.size] as? NSNumber)?.intValue, let used = found[.modificationDate] as? Date
            else { continue }
            files.append((name, size, used))
        }
        var total = files.reduce(0) { $0 + $1.size }
        for file in files.sorted(by: { $0.used < $1.used }) where total > limit && file.name != kept {
            Platform.removeFile(folder + "/" + file.name)
            total -= file.size
        }
    }

    private var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] }
}

extension TensorStore {
    /// What tells these files from any others, earlier states of their own among them.
    var identity: String {
        files.map { _, file in
            let mapped = file.file
            let header = mapped.withBytes {
                BlockChecksum.of(UnsafeRawBufferPointer(rebasing: $0[file.headerRange]))
            }
            let path = String(reflecting: Platform.canonicalPath(mapped.path))
            return "file \(path): \(mapped.count) bytes, inode \(mapped.inode), changed "
                + "\(mapped.modified.seconds) s \(mapped.modified.nanoseconds) ns, header \(header)\n"
        }.joined()
    }
}
