import Foundations

/// One result in the journal, as a sealed line:
///
///     {"sum":"<crc64>"[,"repeat":R],"id":"…","sample":S,<members>,"line_hash":"…","run":"…"}
///
/// The members are those of `ResultCoding`. What depends on the input's order or on the output's format isn't here,
/// so a result fits wherever its line has moved, and whatever the output looks like.
struct JournalRecord {
    var key: WorkKey
    /// How many results of the same id and sample came before this one (a duplicate id is an error result of its
    /// own).
    var repetition: Int
    /// The digest of the run's fingerprint.
    var run: String
    var result: GenerationResult

    /// The sealed line, without a line feed.
    var line: [UInt8] {
        SealedLine.make { writer in
            if repetition > 0 {
                writer.key("repeat")
                writer.int(repetition)
            }
            writer.key("id")
            writer.string(key.id)
            writer.key("sample")
            writer.int(key.sample)
            ResultCoding.write(result, to: &writer)
            writer.key("line_hash")
            writer.hex(key.contentHash)
            writer.key("run")
            writer.string(run)
        }
    }

    init(key: WorkKey, repetition: Int, run: String, result: GenerationResult) {
        self.key = key
        self.repetition = repetition
        self.run = run
        self.result = result
    }

    /// - Parameters:
    ///   - line: one whose sum is known to be right.
    ///   - keeps: whether the result's texts and lists are wanted; else they are read all the same, and forgotten.
    init?(_ line: UnsafeRawBufferPointer, keeps: Bool) {
        var reader = ResultCoding.Reader(keeps: keeps)
        var (id, sample, repetition, hash, run): (String?, Int?, Int, UInt64?, String?) = (
            nil, nil, 0, nil, nil
        )
        let isRead: Void? = try? JSONScanner.scan(line, limits: .ownLine) { scanner in
            try scanner.object { scanner, name in
                if name.spells("sum") {
                    try scanner.skip()
                } else if name.spells("id") {
                    id = try scanner.string()
                } else if name.spells("sample") {
                    sample = try scanner.count()
                } else if name.spells("repeat") {
                    repetition = try scanner.count()
                } else if name.spells("line_hash") {
                    hash = try scanner.hex()
                } else if name.spells("run") {
                    run = try scanner.string()
                } else if try !reader.take(name, from: &scanner) {
                    throw scanner.fault("a record has no such member")
                }
            }
        }
        guard isRead != nil, let id, let sample, let hash, let run, let result = reader.result else {
            return nil
        }
        key = WorkKey(id: id, sample: sample, contentHash: hash)
        self.repetition = repetition
        self.run = run
        self.result = result
    }
}
