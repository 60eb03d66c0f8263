import JSON

/// One result in a log, as a checksummed line:
///
///     {"sum":"<crc64>"[,"repeat":R],"id":"…","sample":S,<members>,"line_hash":"…","run":"…"}
///
/// The members are those of `GenerationResult`. What depends on the input's order or on the output's format isn't here,
/// so a result fits wherever its line has moved, and whatever the output looks like. Before the records there may be
/// lines that a redo begins with (`RedoMark`).
package struct ResultRecord {
    package var key: ResultKey
    /// Number of results of the same id and sample before this one. (A duplicate id gives an error result.)
    var repetition: Int
    /// The digest of the run's fingerprint.
    package var run: String
    package var result: GenerationResult

    /// The sealed line, without a line feed.
    var line: [UInt8] {
        ChecksummedLine.make { writer in
            if repetition > 0 { writer.int("repeat", repetition) }
            writer.string("id", key.id)
            writer.int("sample", key.sample)
            result.write(to: &writer)
            writer.hex("line_hash", key.contentHash)
            writer.string("run", run)
        }
    }
}

extension ResultRecord {
    /// - Parameter line: one whose sum is known to be right.
    init?(_ line: UnsafeRawBufferPointer) {
        var reader = ResultReader()
        let head = RecordHead(line) { name, scanner throws(JSONFault) in
            try reader.take(name, from: &scanner)
        }
        guard let head, let result = reader.result else { return nil }
        self.init(key: head.key, repetition: head.repetition, run: head.run, result: result)
    }
}

/// A record without its result, as an index needs it.
struct RecordHead {
    let key: ResultKey
    let repetition: Int
    let run: String
    /// Of the result.
    private(set) var isFailed = false
    private(set) var completionTokens = 0

    /// - Parameter line: one whose sum is known to be right.
    init?(_ line: UnsafeRawBufferPointer) {
        var (isFailed, tokens) = (false, Int?.none)
        self.init(line) { name, scanner throws(JSONFault) in
            // Kept fields follow, and may have these names, too.
            if isFailed || tokens != nil {
                try scanner.skip()
            } else if name.spells("usage") {
                tokens = try scanner.value().tokenCounts?.completion ?? -1
            } else {
                isFailed = name.spells("error")
                try scanner.skip()
            }
        }
        guard case let tokens = tokens ?? 0, tokens >= 0 else { return nil }
        (self.isFailed, completionTokens) = (isFailed, tokens)
    }

    /// - Parameter take: takes each of the result's members.
    fileprivate init?(
        _ line: UnsafeRawBufferPointer,
        take: (UnsafeBufferPointer<UInt8>, inout JSONScanner) throws(JSONFault) -> Void
    ) {
        var (id, sample, hash, run) = (String?.none, Int?.none, UInt64?.none, String?.none)
        var repetition = 0
        let isRead: Void? = try? JSONScanner.scan(line, limits: .ownLine) { scanner in
            try scanner.object { scanner, name in
                if name.spells("id") {
                    id = try scanner.string()
                } else if id == nil {
                    // A field of the line may have this name, too.
                    if name.spells("repeat") {
                        repetition = try scanner.integer()
                    } else {
                        try scanner.skip()
                    }
                } else if name.spells("sample") {
                    sample = try scanner.integer()
                } else if name.spells("line_hash") {
                    hash = UInt64(try scanner.string(), radix: 16)
                } else if name.spells("run") {
                    run = try scanner.string()
                } else {
                    try take(name, &scanner)
                }
            }
        }
        guard isRead != nil, let id, let sample, sample >= 0, repetition >= 0, let hash, let run
        else { return nil }
        key = ResultKey(id: id, sample: sample, contentHash: hash)
        (self.repetition, self.run) = (repetition, run)
    }
}
