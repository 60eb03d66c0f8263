import Errors
import JSON

/// Log of a finished output: a packed file of sealed lines beside it, which says all that is known of the output.
///
///     <LogHeader>
///     <JournalRecord>, for each result, in the output's order
///     {"sum":"…","results":N,"size":S,"content":"<crc64>"[,"errors":{"size":S,"content":"<crc64>"}]}
///
/// The last line has the sum of the output, and of the file of failed lines, so that a log belongs to one output and no
/// other. It is complete under its draft's name before the output is put in place, and gets its own name after that: if
/// a run is ended in between, the draft is the log that fits.
package struct OutputLog {
    /// Text of the log.
    let file: File
    package let header: LogHeader
    /// Nil if the log was cut.
    let end: End?

    /// Sum of a file's bytes.
    struct Sum: Equatable {
        var size = 0
        var content: UInt64 = 0

        mutating func add(_ bytes: UnsafeRawBufferPointer) {
            size += bytes.count
            content = Checksum.crc64(bytes, after: content)
        }
    }

    struct End: Equatable {
        var results: Int
        var output: Sum
        /// The file of failed lines; nil if there is none.
        var errors: Sum?

        var line: [UInt8] {
            ChecksummedLine.make { writer in
                writer.int("results", results)
                output.write(to: &writer)
                if let errors { writer.object("errors") { errors.write(to: &$0) } }
            }
        }
    }
}

extension OutputLog.End {
    /// - Parameter line: one whose sum is known to be right.
    init?(_ line: UnsafeRawBufferPointer) {
        guard let json = try? JSONValue(parsing: line, limits: .file), let results = json.int("results"),
            let output = OutputLog.Sum(json)
        else { return nil }
        self.init(results: results, output: output, errors: json["errors"].flatMap(OutputLog.Sum.init))
    }
}

extension OutputLog.Sum {
    fileprivate init?(_ json: JSONValue) {
        guard let size = json.int("size"),
            let content = json.string("content").flatMap({ UInt64($0, radix: 16) })
        else { return nil }
        self.init(size: size, content: content)
    }

    fileprivate func write(to writer: inout JSONWriter) {
        writer.int("size", size)
        writer.hex("content", content)
    }

    init(of file: File) throws {
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count = try buffer.withUnsafeMutableBytes { buffer in
                let count = try file.read(into: buffer, at: size)
                add(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                return count
            }
            if count == 0 { return }
        }
    }
}

// MARK: What is there

extension OutputLog {
    /// Advice for who has an output that can't be known.
    static let advice: Message =
        "Name another output, or use --restart to have it replaced when the run is complete."

    /// - Parameter path: of the log.
    /// - Returns: nil if there is none.
    /// - Throws: `UserError` of kind `mismatch` if it is damaged at its beginning, or somebody else's.
    init?(_ path: String, _ use: RunFile.Use = .log, in system: any FileSystem) throws {
        guard try RunFile.open(path, use, .readOwn, in: system) != nil else { return nil }
        let damage = UserError(
            .mismatch, at: path,
            "is damaged, or of another version of phibatch, so nothing says what the output holds. "
                + Self.advice)
        let file: File
        do {
            guard let text = try File.textIfPresent(path, in: system) else { return nil }
            file = text
        } catch let error as UserError where error.code == nil { throw damage }
        var header: LogHeader?
        try LineScanner(file: file).forEachLine { line in
            header = line.isWhole ? LogHeader(line.bytes) : nil
            return false
        }
        guard let header else { throw damage }
        (self.file, self.header, end) = (file, header, try Self.end(of: file))
    }

    private static func end(of file: File) throws -> End? {
        let size = try file.info().size
        let tail = try file.bytes(max(0, size - 1024)..<size)
        guard tail.last == 0x0A, let start = tail.dropLast().lastIndex(of: 0x0A) else { return nil }
        return tail[(start + 1)...].dropLast().withUnsafeBytes { ChecksummedLine.isValid($0) ? End($0) : nil }
    }

    /// Whether an output is, byte for byte, the one that this is the log of.
    package func fits(_ output: File) throws -> Bool {
        guard let end, try output.info().size == end.output.size else { return false }
        return try Sum(of: output) == end.output
    }

    /// The log of the output that is there: the one under its own name, unless a run was ended before its draft, which
    /// then fits, got that name.
    /// - Returns: nil if there is none.
    /// - Throws: as `init`.
    package static func find(at paths: OutputPaths, in system: any FileSystem) throws -> OutputLog? {
        if try system.entryIfPresent(paths.logDraft) != nil,
            let draft = try? OutputLog(paths.logDraft, .logDraft, in: system),
            let output = try File.openIfPresent(paths.output, .read, in: system), try draft.fits(output)
        {
            return draft
        }
        return try OutputLog(paths.log, in: system)
    }

    /// The header alone of an output's log.
    /// - Returns: nil if there is none, or it can't be read any more.
    /// - Throws: `UserError` of kind `mismatch` if a file of another's has its name.
    package static func header(at paths: OutputPaths, in system: any FileSystem) throws -> LogHeader? {
        guard try system.entryIfPresent(paths.logDraft) == nil else {
            return ((try? find(at: paths, in: system)) ?? nil)?.header
        }
        guard try RunFile.open(paths.log, .log, .readOwn, in: system) != nil else { return nil }
        let text = try InputBytes(ByteSource(path: paths.log), chunkSize: 1 << 16)
        let line = (try? text.nextLine(limit: LogHeader.longest)) ?? nil
        return line.flatMap { $0.bytes.withUnsafeBytes { LogHeader($0) } }
    }

    /// Gives a draft that is the output's log its name, and removes any other draft.
    static func settle(at paths: OutputPaths, in system: any FileSystem) throws {
        guard let draft = try RunFile.open(paths.logDraft, .logDraft, .readOwn, in: system) else { return }
        if try find(at: paths, in: system)?.file.path == paths.logDraft {
            try put(draft, inPlaceAt: paths, in: system)
        } else {
            try RunFile.removeLeftover(paths.logDraft, .logDraft, in: system)
        }
    }

    /// Gives a finished log its name, on the disk. One that is there is of the output before.
    static func put(_ log: File, inPlaceAt paths: OutputPaths, in system: any FileSystem) throws {
        let earlier = try RunFile.openUnchecked(paths.log, .log, .readOwn, in: system)
        try log.replace(paths.log, try earlier?.info())
        try system.syncFolder(paths.folder)
    }

    /// Writes the log anew with another header.
    func put(_ header: LogHeader, at place: OutputPlace) throws {
        let draft = try place.makeOwnFile(place.paths.logDraft)
        do {
            var writer = try BufferedWriter(draft, packer: Packer(.gzip))
            var isFirst = true
            try LineScanner(file: file).forEachLine { line in
                try writer.withBuffer { bytes in
                    bytes += isFirst ? header.line[...] : Array(line.bytes)[...]
                    bytes.append(0x0A)
                }
                isFirst = false
                return true
            }
            try writer.finish()
            try draft.sync()
            try Self.put(draft, inPlaceAt: place.paths, in: place.system)
        } catch {
            try? draft.remove()
            throw error
        }
    }
}
