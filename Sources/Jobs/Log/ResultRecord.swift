import JSON

/// One result in a log, as a checksummed line:
///
///     {"sum":"<crc64>"[,"repeat":R],"id":"…","sample":S,<members>,"line_hash":"…","run":"…"}
///
/// The members are those of `ResultCoding`. What depends on the input's order or on the output's format isn't here,
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
            if repetition > 0 {
                writer.int("repeat", repetition)
            }
            writer.string("id", key.id)
            writer.int("sample", key.sample)
            ResultCoding.write(result, to: &writer)
            writer.hex("line_hash", key.contentHash)
            writer.string("run", run)
        }
    }
}

extension ResultRecord {
    /// - Parameters:
    ///   - line: one whose sum is known to be right.
    ///   - keeps: whether the result's texts and lists are wanted; else they are read all the same, and forgotten.
    init?(_ line: UnsafeRawBufferPointer, keeps: Bool) {
        var reader = ResultCoding.Reader(keeps: keeps)
        var keyReader = ResultKeyReader()
        var repetition = 0
        var run: String?
        let isRead = ChecksummedLine.read(line) { scanner, name in
            // A field of the line may have this name, too.
            if name.spells("repeat"), !keyReader.hasBegun {
                repetition = try scanner.count()
            } else if name.spells("run") {
                run = try scanner.string()
            } else if try !keyReader.take(name, from: &scanner) {
                try reader.take(name, from: &scanner)
            }
            return true
        }
        guard isRead, let key = keyReader.key, let run, let result = reader.result else { return nil }
        self.init(key: key, repetition: repetition, run: run, result: result)
    }
}

/// Reads a work key from the members of a sealed line: "id", "sample" and "line_hash", wherever they stand.
struct ResultKeyReader {
    private var (id, sample, contentHash): (String?, Int?, UInt64?)

    /// - Returns: false if the member is none of them; then nothing is read.
    mutating func take(_ name: UnsafeBufferPointer<UInt8>, from scanner: inout JSONScanner) throws -> Bool {
        if name.spells("id") {
            id = try scanner.string()
        } else if name.spells("sample") {
            sample = try scanner.count()
        } else if name.spells("line_hash") {
            contentHash = try scanner.hex()
        } else {
            return false
        }
        return true
    }

    var hasBegun: Bool { id != nil }

    /// Nil if a member is missing.
    var key: ResultKey? {
        guard let id, let sample, let contentHash else { return nil }
        return ResultKey(id: id, sample: sample, contentHash: contentHash)
    }
}
