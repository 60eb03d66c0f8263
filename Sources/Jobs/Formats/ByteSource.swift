import Errors
import FoundationShim
import OperatingSystem

/// Bytes of a file or of stdin. A read returns available bytes rather than wait for more. gzip and zstd are
/// decompressed.
package final class ByteSource {
    let name: String
    /// A warning once everything is read; nil if there is none.
    var warning: String? {
        guard let (packing, unpacker) = unpacking, unpacker.hasRest else { return nil }
        return "\(name) has bytes after the end of its \(packing) data, which are not read."
    }
    private static let failure = "can't be read"
    private let system: any FileSystem
    private let descriptor: Int32
    private let isOurs: Bool
    /// Size of a regular file when it was opened, and the current position.
    private var expectedEnd: Int?
    private var position = 0
    /// Number of decompressed bytes.
    private var made = 0
    /// Bytes read ahead to recognize the format.
    private var looked: [UInt8]?
    private var unpacking: (packing: Packing, unpacker: Unpacker)?
    private var rows: DuckDB?
    private let columns: Set<String>?
    /// Whether it is Parquet, whose rows are returned as JSON lines.
    private(set) var isParquet = false

    /// - Parameters:
    ///   - path: a file, or `-` for stdin.
    ///   - columns: columns of a table to read; nil for all.
    ///   - isSettings: only a regular file is accepted, as resuming a job reads it again.
    /// - Throws: `UserError` of kind `missingInput`.
    package init(
        path: String, columns: Set<String>? = nil, isSettings: Bool = false,
        system: any FileSystem = POSIXFileSystem()
    ) throws {
        (self.system, self.columns) = (system, columns)
        isOurs = path != "-"
        name = isOurs ? path : "stdin"
        let (name, isOurs) = (name, isOurs)
        descriptor = try system.attempt(
            Self.failure, name, isOurs ? try system.open(path, isSettings ? .read : .readStream) : 0,
            kind: .missingInput)
        let descriptor = descriptor
        let info = try system.attempt(
            Self.failure, name, try system.info(descriptor), kind: .missingInput)
        if info.kind == .folder { throw UserError(.missingInput, at: name, "is a folder, not a file.") }
        guard info.kind == .regular else {
            guard isSettings else { return }
            throw UserError(
                .missingInput, at: name, "is a pipe or a device, which can't be read again.")
        }
        expectedEnd = info.size
        position = try system.attempt(
            Self.failure, name, try system.position(descriptor), kind: .missingInput)
    }

    deinit { if isOurs { system.close(descriptor) } }

    /// - Returns: number of bytes read; 0 at the end.
    /// - Throws: `UserError` of kind `io`.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        try look()
        if let rows {
            let count = try reading { () throws(UserError) in try rows.read(into: buffer) }
            return try checked(count, of: expectedEnd ?? .max, most: 5_000)
        }
        guard let (packing, unpacker) = unpacking else { return try readPlain(into: buffer) }
        let count = try Self.unpacking(name) {
            try unpacker.read(into: buffer) { try readPlain(into: $0) }
        }
        // gzip compresses lines that share a long prompt by about 160.
        return try checked(count, of: position, most: packing == .gzip ? 400 : 5_000)
    }

    /// - Throws: `UserError` if `packed` bytes gave over 64 MiB and more than `ratio` times as many, like a bomb.
    private func checked(_ count: Int, of packed: Int, most ratio: Int) throws(UserError) -> Int {
        made += count
        guard made > 64 << 20, made / ratio > packed else { return count }
        throw UserError(
            .io, at: name,
            "unpacks to more than \(ratio) times its size, as no file of prompts does. If it is right, decompress it first."
        )
    }

    private static func unpacking<T>(_ name: String, _ work: () throws -> T) throws -> T {
        do { return try work() } catch let error as SystemError { throw UserError(.io, at: name, "", error) }
    }

    private func reading<T>(_ work: () throws(UserError) -> T) throws(UserError) -> T {
        do {
            return try work()
        } catch {
            throw UserError(.io, at: name, error.text)
        }
    }

    /// Recognizes the format by the first bytes. Waits for no more bytes than that takes.
    /// - Throws: `UserError` if the program or library for the format is missing.
    package func look() throws {
        guard looked == nil else { return }
        var start: [UInt8] = []
        if isOurs, ParquetFile.isArrow(named: name) {
            throw UserError(.io, at: name, ParquetFile.arrowAdvice)
        }
        let magics = Packing.allCases.flatMap(\.magics) + [ParquetFile.magic] + ParquetFile.arrowMagics
        while let magic = magics.first(where: { $0.starts(with: start) }) {
            if start == magic { break }
            var next: UInt8 = 0
            let count = try withUnsafeMutableBytes(of: &next) { try readRaw(into: $0) }
            if count == 0 { break }
            start.append(next)
        }
        looked = start
        if ParquetFile.arrowMagics.contains(start) {
            throw UserError(.io, at: name, ParquetFile.arrowAdvice)
        }
        isParquet = try isParquet(start)
        if isParquet {
            guard expectedEnd != nil else {
                throw UserError(
                    .io, at: name, "is Parquet, which can't be read from a stream; give a file.")
            }
            rows = try reading { () throws(UserError) in
                try DuckDB.rows(of: descriptor, only: columns)
            }
        } else if let packing = Packing(start: start) {
            unpacking = (packing, try Self.unpacking(name) { try Unpacker(packing) })
        } else if let packing = Packing(name: name.lowercased()),
            packing.magics.contains(where: { $0.starts(with: start) })
        {
            // Truncated within the first bytes.
            throw UserError(.io, at: name, "", packing.isCut)
        }
    }

    /// Recognized by its name, as it may be truncated, or else by its beginning and its end.
    private func isParquet(_ start: [UInt8]) throws -> Bool {
        if isOurs, ParquetFile.isNamed(name) { return true }
        guard start == ParquetFile.magic, let end = expectedEnd else { return start == ParquetFile.magic }
        var last = [UInt8](repeating: 0, count: start.count)
        let count = try last.withUnsafeMutableBytes { buffer in
            try system.attempt(
                Self.failure, name, try system.read(descriptor, into: buffer, at: end - buffer.count))
        }
        return count == last.count && last == start
    }

    private func readPlain(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        guard let looked, !looked.isEmpty, !buffer.isEmpty else { return try readRaw(into: buffer) }
        let count = min(looked.count, buffer.count)
        buffer.copyBytes(from: looked[..<count])
        self.looked = Array(looked[count...])
        return count
    }

    private func readRaw(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        let count = try system.attempt(Self.failure, name, try system.read(descriptor, into: buffer))
        position += count
        if count == 0, let expectedEnd, position < expectedEnd {
            throw UserError(
                .io, at: name,
                "became shorter while it was read: it had \(expectedEnd) bytes and ends at \(position) "
                    + "now. Run the same command again once it is whole; finished results are kept.")
        }
        return count
    }

    /// Reads everything, up to `limit` bytes.
    package func readAll(limit: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count < limit {
            let count = try chunk.withUnsafeMutableBytes { try read(into: $0) }
            if count == 0 { break }
            bytes += chunk[..<min(count, limit - bytes.count)]
        }
        return bytes
    }
}
