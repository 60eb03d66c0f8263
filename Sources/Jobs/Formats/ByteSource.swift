import Errors
import FoundationShim
import OperatingSystem

/// Bytes of a file or of stdin, by lines or by pieces. A read returns available bytes rather than wait for more. gzip
/// and zstd are decompressed.
package final class ByteSource {
    /// Name of the file in messages.
    let name: String
    /// A warning once everything is read; nil if there is none.
    var warning: String? {
        guard let (packing, unpacker) = unpacking, unpacker.hasRest else { return nil }
        return "\(name) has bytes after the end of its \(packing) data, which are not read."
    }
    /// Decides whether to wait for more at the end.
    var follow: FollowedInput?
    /// Number of lines read; or of records, if these are numbered and their reader counts them here.
    var lineCount = 0
    private static let failure = "can't be read"
    private let system: FileSystem
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
    /// Whether it is Parquet, whose rows are returned as JSON lines; known after `look`.
    var isParquet: Bool { rows != nil }
    private let chunkSize: Int
    private var chunk: [UInt8] = []
    private var unread = 0..<0
    /// Bytes of the first line up to its first carriage return; nil if it has none.
    private var firstReturn: Int?

    /// - Parameters:
    ///   - path: a file, or `-` for stdin.
    ///   - columns: columns of a table to read; nil for all.
    ///   - isSettings: only a regular file is accepted, as resuming a job reads it again.
    ///   - chunkSize: the most bytes to read at a time.
    /// - Throws: `UserError` of kind `missingInput`.
    package init(
        path: String, columns: Set<String>? = nil, isSettings: Bool = false, chunkSize: Int = 1 << 16,
        system: FileSystem = .real
    ) throws {
        (self.system, self.columns, self.chunkSize) = (system, columns, chunkSize)
        isOurs = path != "-"
        name = isOurs ? path : "stdin"
        func attempt<T>(_ call: @autoclosure () throws(SystemError) -> T) throws(UserError) -> T {
            try explaining(.missingInput, at: path == "-" ? "stdin" : path, Self.failure, try call())
        }
        descriptor = try path == "-" ? 0 : attempt(try system.open(path, isSettings ? .read : .readStream))
        let info = try attempt(try system.info(descriptor))
        if info.kind == .folder { throw UserError(.missingInput, at: name, "is a folder, not a file.") }
        guard info.kind == .regular else {
            guard isSettings else { return }
            throw UserError(
                .missingInput, at: name, "is a pipe or a device, which can't be read again.")
        }
        expectedEnd = info.size
        position = try attempt(try system.position(descriptor))
    }

    deinit { if isOurs { system.close(descriptor) } }

    // MARK: Lines and pieces

    /// Returns the next line without its line feed, or nil at the end. A byte order mark at the beginning is skipped.
    /// - Parameter limit: a longer line is only measured.
    /// - Throws: `UserError` if the file can't be read.
    package func nextLine(limit: Int) throws -> InputRecord? {
        var line = InputRecord(number: lineCount + 1, limit: limit, isComplete: false)
        while !line.isComplete {
            guard try fill() else {
                try refuseReturns(line)
                break
            }
            let lineFeed = chunk.withUnsafeBytes { chunk in
                UnsafeRawBufferPointer(rebasing: chunk[unread]).offset(of: 0x0A)
            }
            let end = lineFeed.map { unread.lowerBound + $0 } ?? unread.upperBound
            let piece = chunk[unread.lowerBound..<end]
            if lineCount == 0, firstReturn == nil {
                firstReturn = piece.firstIndex(of: 0x0D).map { line.length + $0 - piece.startIndex }
            }
            line.append(piece)
            line.isComplete = lineFeed != nil
            unread = min(end + 1, unread.upperBound)..<unread.upperBound
        }
        guard line.isComplete || line.length > 0 else { return nil }
        lineCount += 1
        if lineCount == 1, line.bytes.starts(with: [0xEF, 0xBB, 0xBF]) { line.bytes.removeFirst(3) }
        return line
    }

    /// Passes available bytes on, regardless of lines.
    /// - Parameter body: receives at least one byte, and returns the number that it takes.
    /// - Returns: false at the end.
    /// - Throws: `UserError` if the file can't be read.
    func take(_ body: (UnsafeRawBufferPointer) -> Int) throws -> Bool {
        guard try fill() else { return false }
        let taken = chunk.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[unread])) }
        unread.removeFirst(taken)
        return true
    }

    /// Reads everything, up to `limit` bytes.
    package func readAll(limit: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < limit,
            try take({ piece in
                bytes += piece.prefix(limit - bytes.count)
                return piece.count
            })
        {}
        return bytes
    }

    /// - Returns: false at the end.
    private func fill() throws -> Bool {
        if chunk.isEmpty { chunk = [UInt8](repeating: 0, count: chunkSize) }
        while unread.isEmpty {
            let count = try chunk.withUnsafeMutableBytes { try read(into: $0) }
            unread = 0..<count
            if count == 0, follow?.waits() != true { return false }
        }
        return true
    }

    /// Without line feeds, a file with carriage returns would be one line.
    private func refuseReturns(_ line: InputRecord) throws(UserError) {
        guard lineCount == 0, let firstReturn, firstReturn < line.length - 1 else { return }
        throw UserError(
            .badJob, at: name,
            "has lines that end in a carriage return alone (CR), as on old Macs; they must end in LF or CR LF. "
                + "\"tr '\\r' '\\n' < FILE > NEW\" makes such a file.")
    }

    // MARK: Reading

    /// - Returns: number of bytes read; 0 at the end.
    /// - Throws: `UserError` of kind `io`.
    private func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        try look()
        if let rows {
            return try checked(
                naming { try rows.read(into: buffer) }, of: expectedEnd ?? .max, most: 5_000)
        }
        guard let (packing, unpacker) = unpacking else { return try readPlain(into: buffer) }
        let count = try naming { try unpacker.read(into: buffer) { try readPlain(into: $0) } }
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

    /// Adds the file's name to an error without one.
    private func naming<T>(_ work: () throws -> T) throws -> T {
        do { return try work() } catch let error as SystemError {
            throw UserError(.io, at: name, "", error)
        } catch let error as UserError where error.place == nil {
            throw UserError(.io, at: name, error.text)
        }
    }

    /// Recognizes the format by the first bytes. Waits for no more bytes than that takes.
    /// - Throws: `UserError` if the program or library for the format is missing.
    package func look() throws {
        guard looked == nil else { return }
        var start: [UInt8] = []
        let magics = Packing.allCases.flatMap(\.magics) + [ParquetFile.magic] + ParquetFile.arrowMagics
        while let magic = magics.first(where: { $0.starts(with: start) }) {
            if start == magic { break }
            var next: UInt8 = 0
            let count = try withUnsafeMutableBytes(of: &next) { try readRaw(into: $0) }
            if count == 0 { break }
            start.append(next)
        }
        looked = start
        if ParquetFile.arrowMagics.contains(start) || isOurs && ParquetFile.isArrow(named: name) {
            throw UserError(.io, at: name, ParquetFile.arrowAdvice)
        }
        if try isParquet(start) {
            guard expectedEnd != nil else {
                throw UserError(
                    .io, at: name, "is Parquet, which can't be read from a stream; give a file.")
            }
            rows = try naming { try DuckDB.rows(of: descriptor, only: columns) }
        } else if let packing = Packing(start: start) {
            unpacking = (packing, try naming { try Unpacker(packing) })
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
            try explaining(
                .io, at: name, Self.failure,
                try system.read(descriptor, into: buffer, at: end - buffer.count))
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
        let count = try explaining(
            .io, at: name, Self.failure, try system.read(descriptor, into: buffer))
        position += count
        if count == 0, let expectedEnd, position < expectedEnd {
            throw UserError(
                .io, at: name,
                "became shorter while it was read: it had \(expectedEnd) bytes and ends at \(position) "
                    + "now. Run the same command again once it is whole; finished results are kept.")
        }
        return count
    }
}
