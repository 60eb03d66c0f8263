import OperatingSystem

/// Bytes that are put out of memory for a while: a file without a name, which is gone with the process however it ends.
/// Where no file can be made, memory takes them.
final class ScratchFile {
    private let file: File?
    private var held: [UInt8] = []
    private var end = 0

    /// - Parameter folder: one meant for what may be lost, such as the cache, which is made if it is not there; nil for
    ///   memory.
    init(in folder: String?) { file = folder.flatMap { try? Self.nameless(in: $0) } }

    private static func nameless(in folder: String) throws -> File {
        try Files.makeFolder(folder)
        return try File.nameless(in: folder, POSIXFileSystem())
    }

    /// - Returns: where they are.
    func append(_ bytes: [UInt8]) throws -> Range<Int> {
        if let file { try bytes.withUnsafeBytes { try file.write($0, at: end) } } else { held += bytes }
        defer { end += bytes.count }
        return end..<end + bytes.count
    }

    func bytes(in range: Range<Int>) throws -> [UInt8] {
        guard let file else { return Array(held[range]) }
        var bytes = [UInt8](repeating: 0, count: range.count)
        let count = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: range.lowerBound) }
        guard count == bytes.count else { throw StoreError.changedUnderneath(file.path) }
        return bytes
    }
}

extension WeightCacheLocation {
    /// A folder for what is put out of memory for a while; nil if there is no cache folder.
    package var scratchFolder: String? { folder.map { $0 + "/scratch" } }
}
