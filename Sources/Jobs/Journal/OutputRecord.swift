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
