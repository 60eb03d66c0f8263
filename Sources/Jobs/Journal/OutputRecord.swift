import Faults
import JSON

/// What a finished output holds whose format can't say so itself: a file of sealed lines beside it.
///
///     {"sum":"…","phibatch_record":1,"format":"…","run":"…"[,"start":"…"]}
///     {"sum":"…","id":"…","sample":S[,"failed":true],"completion_tokens":N,"line_hash":"…","offset":O,"length":L,"content":"<crc64>"[,"run":"…"][,"result":{…}]}
///     {"sum":"…","results":N,"size":S,"content":"<crc64>"[,"footer":{"size":S,"content":"<crc64>"}][,"errors":{"size":S,"content":"<crc64>"}]}
///
/// A line for each result, in the output's order, says where its bytes lie and has their sum, and which run made it if
/// not that of the first line, and has the members of the whole result (`ResultCoding`) where the output has only some; the
/// last line has the sum of the whole output, and of the file of failed lines beside it. So a record belongs to one output
/// and no other. It is complete under its draft's name before the output is put in place, and gets its own name after
/// that: if a run is ended in between, the draft is the record that fits.
package enum OutputRecord {
    static let version = 1
    static let marker: StaticString = "\"phibatch_record\":"

    package struct Header: Equatable {
        var format: String
        var run: String
        /// What stands in the output before the first result.
        package var start: [UInt8] = []

        var line: [UInt8] {
            SealedLine.make { writer in
                writer.int("phibatch_record", OutputRecord.version)
                writer.string("format", format)
                writer.string("run", run)
                if !start.isEmpty { writer.string("start", String(decoding: start, as: UTF8.self)) }
            }
        }
    }

    /// Where a result is.
    struct Entry {
        var key: WorkKey
        var isFailed: Bool
        var completionTokens: Int
        /// In the output.
        var range: Range<Int>
        /// The sum of these bytes.
        var content: UInt64
        /// The digest of the run that made it; nil if it is the record's.
        var run: String?
        /// The whole result; nil where the output has that.
        var json: String?

        var line: [UInt8] {
            SealedLine.make { writer in
                writer.string("id", key.id)
                writer.int("sample", key.sample)
                if isFailed {
                    writer.bool("failed", true)
                }
                writer.int("completion_tokens", completionTokens)
                writer.hex("line_hash", key.contentHash)
                writer.int("offset", range.lowerBound)
                writer.int("length", range.count)
                writer.hex("content", content)
                if let run { writer.string("run", run) }
                if let json {
                    writer.raw("result", json)
                }
            }
        }
    }

    /// The bytes of a whole file.
    struct Sum: Equatable {
        var size = 0
        var content: UInt64 = 0

        mutating func add(_ bytes: UnsafeRawBufferPointer) {
            size += bytes.count
            content = Checksum.crc64(bytes, after: content)
        }
    }

    /// The whole output.
    struct End: Equatable {
        var results: Int
        var output: Sum
        /// What stands after the last result; nil if nothing does.
        var footer: Sum?
        /// The file of failed lines; nil if there is none.
        var errors: Sum?
        var size: Int { output.size }

        var line: [UInt8] {
            SealedLine.make { writer in
                writer.int("results", results)
                output.write(to: &writer)
                if let footer { writer.object("footer") { footer.write(to: &$0) } }
                if let errors { writer.object("errors") { errors.write(to: &$0) } }
            }
        }
    }
}

extension OutputRecord.Entry {
    /// - Parameter line: one whose sum is known to be right.
    init?(_ line: UnsafeRawBufferPointer) {
        var keyReader = WorkKeyReader()
        var (tokens, offset, length, content): (Int?, Int?, Int?, UInt64?)
        var (run, json): (String?, String?)
        var isFailed = false
        let isRead = SealedLine.read(line) { scanner, name in
            if name.spells("failed") {
                isFailed = try scanner.bool()
            } else if name.spells("completion_tokens") {
                tokens = min(try scanner.count(), Int(Int32.max))
            } else if name.spells("offset") {
                offset = try scanner.count()
            } else if name.spells("length") {
                length = try scanner.count()
            } else if name.spells("content") {
                content = try scanner.hex()
            } else if name.spells("run") {
                run = try scanner.string()
            } else if name.spells("result") {
                json = try scanner.skippedText()
            } else {
                return try keyReader.take(name, from: &scanner)
            }
            return true
        }
        guard isRead, let key = keyReader.key, let content, let tokens, let offset, let length,
            length <= SealedLine.maximumLength, offset < 1 << 59
        else { return nil }
        self.init(
            key: key, isFailed: isFailed, completionTokens: tokens, range: offset..<offset + length,
            content: content, run: run, json: json)
    }
}

extension OutputRecord.End {
    init?(_ json: JSONValue) {
        guard let results = json.int("results"), let output = OutputRecord.Sum(json) else { return nil }
        self.init(
            results: results, output: output, footer: json["footer"].flatMap(OutputRecord.Sum.init),
            errors: json["errors"].flatMap(OutputRecord.Sum.init))
    }
}

extension OutputRecord.Sum {
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

    /// - Returns: nil if the file isn't so long.
    init?(of file: File, from start: Int = 0, size: Int) throws {
        let pieces = FilePieces(file)
        while self.size < size {
            let next = min(size, self.size + 1 << 20)
            guard try pieces.with(start + self.size..<start + next, { self.add($0) }) != nil else {
                return nil
            }
        }
    }
}

extension OutputRecord {
    package enum Reading {
        case valid(Header)
        case otherVersion(Int)
        case damaged
    }

    /// For who has an output that can't be known.
    static let advice: Message =
        "Name another output, or use --restart to have it replaced when the run is complete."

    static func header(of file: File) throws -> Reading {
        var reading = Reading.damaged
        try LineScanner(file: file).forEachLine { line in
            guard line.isWhole, SealedLine.isValid(line.bytes),
                let json = try? JSONValue(parsing: line.bytes, limits: .file),
                let version = json.int("phibatch_record")
            else { return false }
            if version != OutputRecord.version {
                reading = .otherVersion(version)
            } else if let format = json.string("format"), let run = json.string("run") {
                reading = .valid(
                    Header(format: format, run: run, start: Array((json.string("start") ?? "").utf8)))
            }
            return false
        }
        return reading
    }

    /// - Parameter body: gets each whole entry, and where its line is. What is damaged is passed over.
    /// - Returns: the last line, if it is whole.
    @discardableResult
    static func forEachEntry(
        in file: File, _ body: (Entry, _ offset: Int, _ length: Int) throws -> Void
    ) throws -> End? {
        var end: End?
        var isFirst = true
        try LineScanner(file: file).forEachLine { line in
            defer { isFirst = false }
            guard !isFirst, line.isWhole, SealedLine.isValid(line.bytes) else { return true }
            if let entry = Entry(line.bytes) {
                try body(entry, line.offset, line.bytes.count)
            } else if let json = try? JSONValue(parsing: line.bytes, limits: .file) {
                end = End(json)
            }
            return true
        }
        return end
    }

    // MARK: Which record is the output's

    /// The record of the output that is there: the one under its own name, unless a run was ended before its draft,
    /// which then fits, got that name.
    /// - Parameter output: nil if there is none.
    /// - Returns: nil if there is none.
    /// - Throws: `StoreError` of kind `mismatch` if a file of another's has one of these names.
    static func find(
        for output: File?, at paths: OutputPaths, in system: any FileSystem
    ) throws -> (record: File?, isDraft: Bool) {
        if let draft = try RunFile.open(paths.recordDraft, .recordDraft, .readOwn, in: system), let output,
            try fits(draft, output)
        {
            return (draft, true)
        }
        return (try RunFile.open(paths.record, .record, .readOwn, in: system), false)
    }

    /// The output's record, and what it says of itself.
    /// - Throws: `StoreError` of kind `mismatch` if there is none, or it isn't of this format.
    package static func needed(
        for output: File, _ format: any ResultFormat, at paths: OutputPaths, in system: any FileSystem
    ) throws -> (file: File, header: Header) {
        guard let record = try find(for: output, at: paths, in: system).record else {
            throw StoreError(
                .mismatch, path: paths.output,
                "is there, but not its record \(paths.record), so nothing says what it holds. " + advice)
        }
        return (record, try checkedHeader(of: record, format))
    }

    /// - Throws: `StoreError` of kind `mismatch`.
    static func checkedHeader(of record: File, _ format: any ResultFormat) throws -> Header {
        switch try header(of: record) {
        case .valid(let header):
            guard header.format.utf8.elementsEqual(format.name.utf8) else {
                throw StoreError(
                    .mismatch, path: record.path,
                    "is the record of an output in the format \(header.format), and not \(format.name). "
                        + advice)
            }
            return header
        case .otherVersion(let number):
            throw StoreError(
                .mismatch, path: record.path,
                "was written by another version of phibatch (format \(number), this one is \(version)). "
                    + advice)
        case .damaged:
            throw StoreError(
                .mismatch, path: record.path,
                "its first line is damaged, so nothing says what the output holds. " + advice)
        }
    }

    /// Gives a draft that is the output's record its name, and removes any other draft.
    /// - Returns: the output's record, if there is one.
    static func settle(
        for output: File?, at paths: OutputPaths, in system: any FileSystem
    ) throws -> File? {
        let (record, isDraft) = try find(for: output, at: paths, in: system)
        if isDraft, let record {
            try put(record, inPlaceAt: paths, in: system)
        } else {
            try RunFile.removeLeftover(paths.recordDraft, .recordDraft, in: system)
        }
        return record
    }

    /// Gives a finished record its name, on the disk. One that is there is of the output before.
    static func put(_ record: File, inPlaceAt paths: OutputPaths, in system: any FileSystem) throws {
        let earlier = try RunFile.open(paths.record, .record, .readOwn, in: system)
        try record.replace(paths.record, try earlier?.info())
        try system.syncFolder(paths.folder)
    }

    /// Whether an output is, byte for byte, the one that a record is of.
    private static func fits(_ record: File, _ output: File) throws -> Bool {
        var count = 0
        guard let end = try forEachEntry(in: record, { _, _, _ in count += 1 }), end.results == count,
            end.size == (try output.info().size)
        else { return false }
        return try Sum(of: output, size: end.size) == end.output
    }
}
