import JSON

/// That a result is to be made again, mostly with the next seed: a line that a redo begins its journal with.
///
///     {"sum":"…","redo":"<the choice's hash>","id":"…","sample":S,"line_hash":"…"}
///
/// The hash is that of the result to come. What there is of this id and sample under another one is forgotten.
struct RedoMark {
    var key: WorkKey
    /// By what it was chosen, so that the same command goes on with a redo that was interrupted.
    var choice: UInt64

    /// The sealed line, without a line feed.
    var line: [UInt8] {
        ChecksummedLine.make { writer in
            writer.hex("redo", choice)
            writer.string("id", key.id)
            writer.int("sample", key.sample)
            writer.hex("line_hash", key.contentHash)
        }
    }

    init(key: WorkKey, choice: UInt64) { (self.key, self.choice) = (key, choice) }

    /// - Parameter line: one whose sum is known to be right.
    init?(_ line: UnsafeRawBufferPointer) {
        var keyReader = WorkKeyReader()
        var choice: UInt64?
        let isRead = ChecksummedLine.read(line) { scanner, name in
            guard name.spells("redo") else { return try keyReader.take(name, from: &scanner) }
            choice = try scanner.hex()
            return true
        }
        guard isRead, let key = keyReader.key, let choice else { return nil }
        self.init(key: key, choice: choice)
    }
}

/// A result that was made again is filed under its line's hash plus the number of the redo. So whatever knows results
/// by their keys (outputs, records, journals) knows which seed each was made with. These are hashes of 64 bits, and
/// another content of the line has hardly ever one so near.
extension WorkKey {
    private static let redoLimit: UInt64 = 1 << 12

    /// The key of the next redo.
    var again: WorkKey { WorkKey(id: id, sample: sample, contentHash: contentHash &+ 1) }

    /// How often a result was made again.
    /// - Parameters:
    ///   - filed: the hash that it has.
    ///   - hash: its line's.
    /// - Returns: nil if it is of another content.
    static func redo(of filed: UInt64, from hash: UInt64) -> Int? {
        let number = filed &- hash
        return number < redoLimit ? Int(number) : nil
    }
}

/// Results of a finished output that are to be made again.
extension JournalStore {
    /// Has a run that begins after this make results again, and closes the store. They are marked all at once: whatever
    /// ends this or that run, the next one goes on.
    /// - Parameters:
    ///   - keys: those of the results to come.
    ///   - choice: by what they were chosen.
    package func redo(_ keys: [WorkKey], choice: UInt64) throws {
        precondition(journal.file == nil, "an unfinished run goes on first")
        defer { close() }
        try failing {
            try journal.begin(
                with: keys.flatMap { RedoMark(key: $0, choice: choice).line + [0x0a] })
        }
    }
}
