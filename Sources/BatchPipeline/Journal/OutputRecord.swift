import Foundations

/// What a finished output holds whose format can't say so itself: a file of sealed lines beside it.
///
///     {"sum":"…","phibatch_record":1,"format":"…","run":"…"}
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

        var line: [UInt8] {
            SealedLine.make { writer in
                writer.key("phibatch_record")
                writer.int(OutputRecord.version)
                writer.key("format")
                writer.string(format)
                writer.key("run")
                writer.string(run)
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
                writer.key("id")
                writer.string(key.id)
                writer.key("sample")
                writer.int(key.sample)
                if isFailed {
                    writer.key("failed")
                    writer.bool(true)
                }
                writer.key("completion_tokens")
                writer.int(completionTokens)
                writer.key("line_hash")
                writer.hex(key.contentHash)
                writer.key("offset")
                writer.int(range.lowerBound)
                writer.key("length")
                writer.int(range.count)
                writer.key("content")
                writer.hex(content)
            }
        }

        /// - Parameter line: one whose sum is known to be right.
        init?(_ line: UnsafeRawBufferPointer) {
            var (id, sample, hash, content): (String?, Int?, UInt64?, UInt64?)
            var (tokens, offset, length): (Int?, Int?, Int?)
            var isFailed = false
            let isRead: Void? = try? JSONScanner.scan(line, limits: .ownLine) { scanner in
                try scanner.object { scanner, name in
                    if name.spells("sum") {
                        try scanner.skip()
                    } else if name.spells("id") {
                        id = try scanner.string()
                    } else if name.spells("sample") {
                        sample = try scanner.count()
                    } else if name.spells("failed") {
                        isFailed = try scanner.bool()
                    } else if name.spells("completion_tokens") {
                        tokens = min(try scanner.count(), Int(Int32.max))
                    } else if name.spells("line_hash") {
                        hash = try scanner.hex()
                    } else if name.spells("offset") {
                        offset = try scanner.count()
                    } else if name.spells("length") {
                        length = try scanner.count()
                    } else if name.spells("content") {
                        content = try scanner.hex()
                    } else {
                        throw scanner.fault("a record has no such member")
                    }
                }
            }
            guard isRead != nil, let id, let sample, let hash, let content, let tokens, let offset,
                let length,
                length <= SealedLine.maximumLength, offset < 1 << 59
            else { return nil }
            key = WorkKey(id: id, sample: sample, contentHash: hash)
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
                writer.key("results")
                writer.int(results)
                writer.key("size")
                writer.int(size)
                writer.key("content")
                writer.hex(content)
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
