import Foundation
import Foundations

/// Where packed weights, and what else is found out about a model once, are kept from one start to the next.
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

extension WeightCacheLocation {
    /// The folder, if there is one.
    package var folder: String? {
        if case .folder(let folder) = self { folder } else { nil }
    }
}

/// The folder of packed weights: one file for each model folder.
///
/// It is a folder of our own within the cache folder, which may hold anything else. Only files that have a name
/// of ours and begin as ours do are ever counted, replaced or removed.
///
/// A file is written under another name and then put in place, never changed; so processes that start
/// at once don't disturb each other, and one that goes on with a replaced file still has it mapped.
struct WeightCache {
    /// The cache folder.
    let parent: String
    /// Bytes of all files together. Beyond it the ones not used for longest go.
    var limit = 32_000_000_000
    /// Bytes of the disk that are left free: results need them more.
    var reserve = 1_000_000_000

    /// Where the files lie.
    var folder: String { parent + "/weights" }

    /// Why the cache can't be used.
    struct Fault: Error, CustomStringConvertible {
        let description: String
    }

    /// The weights from the folder; they are packed into it if they aren't there.
    /// - Parameter notes: gets what was done that a person may want to know.
    /// - Throws: `Fault` or `Platform.Failure`; `ModelError` if the model's files can't be read, change
    ///   meanwhile, or hold a value that is not finite.
    func weights(
        of plan: WeightPlan, from store: TensorStore, pool: ComputePool, notes: inout [String]
    ) throws -> WeightFile {
        let hashes = FileHashes(cache: parent)
        let source = try store.identity(hashes, threads: pool.threads)
        let contents = WeightFile.Contents(plan, from: source)
        let name = Self.name(of: store)
        let path = folder + "/" + name
        if let file = WeightFile(path: path, contents: contents, pool: pool) {
            Platform.touch(path)
            return file
        }
        guard OwnFile.isAbsent(path) || OwnFile.begins(path, with: WeightFile.mark) else {
            throw Fault(description: "\(path) was not made by phibatch; move it away")
        }
        try prepare(for: contents.fileSize, &notes)
        let draft = "\(path).\(Platform.processID)-\(String(UInt32.random(in: 0 ... .max), radix: 16)).draft"
        let new = try Platform.NewFile(path: draft)
        do {
            try WeightFile.write(contents, to: new, pool: pool)
            guard try store.identity(hashes, threads: pool.threads) == source else {
                throw ModelError(
                    .malformed, path: store.folder,
                    "changed while it was loaded. Run again once it is whole.")
            }
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

    // MARK: Names

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

    /// Whether a file may be one of ours, by its name.
    static func isFinished(_ name: String) -> Bool {
        name.wholeMatch(of: /.*-[0-9a-f]{1,16}\.weights/) != nil
    }

    static func isDraft(_ name: String) -> Bool {
        name.wholeMatch(of: /.*-[0-9a-f]{1,16}\.weights\.[0-9]+-[0-9a-f]{1,8}\.draft/) != nil
    }

    /// The paths of our files in a folder.
    private func own(in folder: String, _ isOurs: (String) -> Bool) -> [String] {
        ((try? Files.names(in: folder)) ?? []).filter(isOurs).sorted().map { folder + "/" + $0 }
            .filter { OwnFile.begins($0, with: WeightFile.mark) }
    }

    // MARK: Room

    /// Makes the folder and room in it.
    private func prepare(for size: Int, _ notes: inout [String]) throws {
        do {
            try Files.makeFolder(folder)
        } catch {
            throw Fault(description: "the folder \(folder) can't be made")
        }
        for path in own(in: folder, Self.isDraft) where Platform.isAbandoned(path) {
            Platform.removeFile(path)
        }
        notes += removeEarlier()
        let system = try? FileManager.default.attributesOfFileSystem(forPath: folder)
        if let free = (system?[.systemFreeSize] as? NSNumber)?.intValue, free - size < reserve {
            throw Fault(
                description: "\(folder) has \(free / 1_000_000) MB free; \(size / 1_000_000) MB are needed, "
                    + "and \(reserve / 1_000_000) MB are left for others")
        }
    }

    /// Earlier versions put their files into the cache folder itself. None of them can be used any more: they do
    /// not say that their weights are finite.
    private func removeEarlier() -> [String] {
        var (count, bytes) = (0, 0)
        for path in own(in: parent, Self.isFinished) {
            guard let size = size(of: path)?.bytes else { continue }
            Platform.removeFile(path)
            count += 1
            bytes += size
        }
        guard count > 0 else { return [] }
        return [
            "removed \(count) file\(count > 1 ? "s" : "") of packed weights of an earlier version "
                + "(\(bytes / 1_000_000) MB) from \(parent); such files lie in \(folder) now"
        ]
    }

    private func removeUnused(but kept: String) {
        let files = own(in: folder, Self.isFinished).compactMap { path in
            size(of: path).map { (path: path, size: $0.bytes, used: $0.used) }
        }
        var total = files.reduce(0) { $0 + $1.size }
        let unused = files.sorted { $0.used < $1.used }
        for file in unused where total > limit && file.path != folder + "/" + kept {
            Platform.removeFile(file.path)
            total -= file.size
        }
    }

    /// A file's size, and when it was last used.
    private func size(of path: String) -> (bytes: Int, used: Int)? {
        (try? OpenFile.at(path, followsLinks: false).state()).map { ($0.size, $0.modified) }
    }
}

extension TensorStore {
    /// What tells these files from any others, earlier states of their own among them: their content.
    /// - Throws: `ModelError` if one can't be read or is not the one that is mapped.
    func identity(_ hashes: FileHashes, threads: Int) throws -> String {
        let found: [FileHash]
        do throws(FileFault) {
            found = try hashes.hashes(of: files.map(\.file.file.path), threads: threads)
        } catch {
            throw ModelError(.malformed, path: error.path, error.reason + ".")
        }
        return try zip(files, found).map { file, hash in
            guard hash.state.hasContent(of: file.file.file.state) else {
                throw ModelError(
                    .malformed, path: file.file.file.path,
                    "changed while it was loaded. Run again once it is whole.")
            }
            return "file \(String(reflecting: file.name)): \(hash.state.size) bytes, sha256 \(hash.sha256)\n"
        }.joined()
    }
}
