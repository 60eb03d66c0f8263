import Foundations

/// What a finished output holds whose format can't say so itself: a file of sealed lines beside it.
///
///     {"sum":"…","phibatch_record":1,"format":"…","run":"…"[,"start":"…"]}
///     {"sum":"…","id":"…","sample":S[,"failed":true],"completion_tokens":N,"line_hash":"…","offset":O,"length":L,"content":"<crc64>"}
///     {"sum":"…","results":N,"size":S,"content":"<crc64>"}
///
/// A line for each result, in the output's order, says where its bytes lie and has their sum; the last line has that
/// of the whole output. So a record belongs to one output and no other. It is complete under its draft's name before
/// the output is put in place, and gets its own name after that: if a run is ended in between, the draft is the
/// record that fits.
enum OutputRecord {
    static let version = 1
    static let marker: StaticString = "\"phibatch_record\":"

    struct Header: Equatable {
        var format: String
        var run: String
        /// What stands in the output before the first result.
        var start: [UInt8] = []

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
        /// Of these bytes.
        var content: UInt64

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
            }
        }

        /// - Parameter line: one whose sum is known to be right.
        init?(_ line: UnsafeRawBufferPointer) {
            var keyReader = WorkKeyReader()
            var (tokens, offset, length, content): (Int?, Int?, Int?, UInt64?)
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
                } else {
                    return try keyReader.take(name, from: &scanner)
                }
                return true
            }
            guard isRead, let key = keyReader.key, let content, let tokens, let offset, let length,
                length <= SealedLine.maximumLength, offset < 1 << 59
            else { return nil }
            self.key = key
            self.isFailed = isFailed
            completionTokens = tokens
            range = offset..<offset + length
            self.content = content
        }

        init(
            key: WorkKey, isFailed: Bool, completionTokens: Int, range: Range<Int>, content: UInt64
        ) {
            self.key = key
            self.isFailed = isFailed
            self.completionTokens = completionTokens
            self.range = range
            self.content = content
        }
    }

    /// The whole output.
    struct End: Equatable {
        var results: Int
        var size: Int
        var content: UInt64

        var line: [UInt8] {
            SealedLine.make { writer in
                writer.int("results", results)
                writer.int("size", size)
                writer.hex("content", content)
            }
        }

        init(results: Int, size: Int, content: UInt64) {
            self.results = results
            self.size = size
            self.content = content
        }

        init?(_ json: JSONValue) {
            guard let results = json.int("results"), let size = json.int("size"),
                let content = json.string("content").flatMap({ UInt64($0, radix: 16) })
            else { return nil }
            self.init(results: results, size: size, content: content)
        }
    }
}
