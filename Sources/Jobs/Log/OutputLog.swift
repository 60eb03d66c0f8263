import Errors
import JSON

/// Log of an output: checksummed lines beside it, which say all that is known of the output and of the run that makes it.
///
///     packed with gzip, once an output is finished:
///         <LogHeader>
///         <ResultRecord>, for each result, in the output's order
///         {"sum":"…","results":N,"size":S,"content":"<crc64>"[,"errors":{"size":S,"content":"<crc64>"}]}
///     then plain, of runs that have begun since:
///         <LogHeader> for each run, then in any order <ResultRecord>, <RedoMark>, <InFlightRecord>, <JobProgress>
///
/// A run only appends. When the output is complete, the packed part is written anew as a draft, before the output is put in
/// place, and takes the log's name after that: if a run is ended in between, the draft is the log that fits.
package struct OutputLog {
    /// The log itself.
    let file: File
    /// The packed part; nil if there is none.
    package let finished: Finished?
    /// Header of the latest run in the plain part; nil if there is none that is whole.
    package let begun: LogHeader?
    /// Offset of the plain part.
    let tail: Int
    /// Whether the plain part has a whole line: a run has begun and not come to its end.
    package let isOpen: Bool

    /// Log of a finished output.
    package struct Finished {
        let text: File
        package let header: LogHeader
        /// Nil if the log was cut.
        let end: End?
    }

    /// Sum of a file's bytes.
    struct Sum: Equatable {
        var size = 0
        var content: UInt64 = 0

        mutating func add(_ bytes: UnsafeRawBufferPointer) {
            size += bytes.count
            content = Checksum.crc64(bytes, after: content)
        }
    }

    /// Last line of the packed part. It has the sum of the output, and of the file of failed lines, so that a log belongs to
    /// one output and no other.
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
    static let marker: StaticString = "\"results\":"

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
            let content = json.hex("content")
        else { return nil }
        self.init(size: size, content: content)
    }

    fileprivate func write(to writer: inout JSONWriter) {
        writer.int("size", size)
        writer.hex("content", content)
    }

    /// Whether it is that of a file, which may be missing.
    func isSum(of path: String, in system: FileSystem) throws -> Bool {
        guard let file = try File.openIfPresent(path, .read, in: system), try file.info().size == size
        else { return false }
        return try Self(of: file) == self
    }

    init(of file: File) throws {
        while case let bytes = try file.bytes(size..<size + 1 << 20), !bytes.isEmpty {
            bytes.withUnsafeBytes { add($0) }
        }
    }
}

// MARK: Reading

extension OutputLog {
    /// Advice for who has an output that can't be known.
    static let advice: Message =
        "Name another output, or use --restart to have it replaced when the run is complete."

    /// - Parameter path: of the log.
    /// - Returns: nil if there is none.
    /// - Throws: `UserError` of kind `mismatch` if its packed part is damaged, or it is somebody else's.
    init?(_ path: String, _ use: RunFile.Use = .log, in system: FileSystem) throws {
        guard let file = try RunFile.open(path, use, .readOwn, in: system) else { return nil }
        try self.init(file)
    }

    /// - Parameter file: one of ours.
    init(_ file: File) throws {
        let damage = UserError(
            .mismatch, at: file.path,
            "is damaged, or of another version of phibatch, so nothing says what the output holds. "
                + Self.advice)
        var (finished, tail) = (Finished?.none, 0)
        if Packing(start: try file.bytes(0..<4)) == .gzip {
            let text: File
            do { (text, tail) = try file.unpacked(.gzip) } catch let error as UserError {
                throw UserError(.io, at: file.path, "can't be unpacked: \(error)", code: error.code ?? 0)
            } catch { throw damage }
            var header: LogHeader?
            try LineScanner(file: text).forEachLine { line in
                if line.isWhole, ChecksummedLine.isValid(line.bytes) { header = LogHeader(line.bytes) }
                return false
            }
            guard let header else { throw damage }
            finished = Finished(text: text, header: header, end: try Self.end(of: text))
        }
        var (begun, isOpen) = (LogHeader?.none, false)
        try LineScanner(file: file).forEachLine(from: tail) { line in
            isOpen = isOpen || line.bytes.contains { $0 != 0 }
            guard line.isWhole, ChecksummedLine.begins(line.bytes, LogHeader.marker),
                ChecksummedLine.isValid(line.bytes)
            else { return true }
            guard let header = LogHeader(line.bytes) else { throw damage }
            begun = header
            return true
        }
        self.init(file: file, finished: finished, begun: begun, tail: tail, isOpen: isOpen)
    }

    private static func end(of text: File) throws -> End? {
        let size = try text.info().size
        let last = try text.bytes(max(0, size - 1024)..<size)
        guard last.last == 0x0A, let start = last.dropLast().lastIndex(of: 0x0A) else { return nil }
        return last[(start + 1)...].dropLast().withUnsafeBytes { ChecksummedLine.isValid($0) ? End($0) : nil }
    }

    /// Finds the log of the output that is there: the one under its own name, unless a run was ended before its draft, which
    /// then fits, got that name.
    /// - Returns: nil if there is none.
    /// - Throws: as `init`.
    package static func find(
        of output: String, in system: FileSystem = .real
    ) throws -> OutputLog? {
        let paths = try OutputPaths(output: output, in: system)
        if try system.entryIfPresent(paths.logDraft) != nil,
            let draft = try? OutputLog(paths.logDraft, .logDraft, in: system),
            try draft.fits(paths.output, in: system)
        {
            return draft
        }
        return try OutputLog(paths.log, in: system)
    }

    /// Whether an output is, byte for byte, the one that this is the log of.
    package func fits(_ output: String, in system: FileSystem) throws -> Bool {
        try finished?.end?.output.isSum(of: output, in: system) ?? false
    }

    /// Header of a finished output; nil if there is none, or it can't be read any more.
    package static func header(of output: String) -> LogHeader? { (try? find(of: output))?.finished?.header }

    /// Gives a finished log its name, on the disk.
    /// - Parameter earlier: the log that it takes the place of.
    static func put(_ log: File, inPlaceOf earlier: File, at paths: OutputPaths, in system: FileSystem)
        throws
    {
        try log.replace(paths.log, earlier.info())
        try system.syncFolder(paths.folder)
    }
}
