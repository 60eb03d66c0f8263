import Faults
import OperatingSystem

/// The folder of packed weights: one file for each model folder.
struct WeightCache {
    /// The cache folder.
    let parent: String
    var limit = 32_000_000_000
    var reserve = 1_000_000_000

    /// Where the files lie.
    private var files: CacheFolder {
        CacheFolder(
            path: parent + "/weights", mark: WeightFile.mark, ending: "weights", limit: limit,
            reserve: reserve)
    }

    /// The weights from the folder; they are packed into it if they aren't there.
    /// - Parameter notes: gets what was done that a person may want to know.
    /// - Throws: `CacheFolder.Fault` or `Platform.Failure`; `ModelError` if the model's files can't be read, change
    ///   meanwhile, or hold a value that is not finite.
    func weights(
        of plan: WeightPlan, from store: TensorStore, pool: ComputePool, notes: inout [String]
    ) throws -> WeightFile {
        let hashes = FileHashes(cache: parent)
        let source = try store.sources.identity(hashes, threads: pool.threads)
        let contents = WeightFile.Contents(plan, from: source)
        let files = files
        let name = Self.name(of: store)
        let path = files.path(of: name)
        if let folder = try files.open() {
            do throws(FileFault) {
                if let file = WeightFile(try folder.file(name), contents: contents, pool: pool) {
                    Platform.touch(path)
                    return file
                }
            } catch {
                // Packed anew; what is there is replaced.
                if !error.isMissing { notes.append("\(error.path) \(error.reason)") }
            }
        }
        try files.prepare(for: contents.fileSize)
        try files.put(name) { new in
            try WeightFile.write(contents, to: new, pool: pool)
            guard try store.sources.identity(hashes, threads: pool.threads) == source else {
                throw ModelError(
                    .malformed, path: store.folder,
                    "changed while it was loaded. Run again once it is whole.")
            }
            // What is mapped must be on the disk: some file systems report only here that it is full.
            try new.sync()
        }
        files.removeUnused(but: [name])
        guard let open = try? files.open()?.file(name),
            let file = WeightFile(open, contents: contents, pool: pool)
        else {
            throw CacheFolder.Fault(description: "\(path) was changed by another program")
        }
        return file
    }

    /// The model folder's own name, for people, and a hash of its path.
    private static func name(of store: TensorStore) -> String {
        let path = Platform.canonicalPath(store.folder)
        let last = path.split(at: "/").last ?? ""
        let whole = path + (store.adapter.map { "\n" + Platform.canonicalPath($0) } ?? "")
        let hash = Array(whole.utf8).withUnsafeBytes { BlockChecksum.of($0) }
        return plainName(last) + "-" + String(hash, radix: 16) + ".weights"
    }

    /// What of a name can be part of any file's.
    static func plainName(_ name: some StringProtocol) -> String {
        String(
            name.unicodeScalars.prefix(60).map { scalar -> Character in
                scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
                    || "-_.".unicodeScalars.contains(scalar) ? Character(scalar) : "_"
            })
    }
}
