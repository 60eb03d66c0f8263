import JSON

/// Mark that a result is to be made again, mostly with the next seed. A redo begins with one for each, and the last line
/// makes them count, all at once:
///
///     {"sum":"…","redo":{"id":"…","sample":S,"line_hash":"…"}}
///     {"sum":"…","redo_all":N,"choice":"<hash>"}
///
/// The hash of the line is that of the result to come. What there is of this id and sample under another one is forgotten.
enum RedoMark {
    static let marker: StaticString = "\"redo\":"
    static let endMarker: StaticString = "\"redo_all\":"

    /// The lines of all marks.
    /// - Parameter choice: by what the results were chosen, so that the same command goes on with a redo that was interrupted.
    static func lines(_ keys: [ResultKey], choice: UInt64) -> [UInt8] {
        var lines: [UInt8] = []
        for key in keys {
            lines += ChecksummedLine.make { $0.object("redo", key.write) } + [0x0A]
        }
        let end = ChecksummedLine.make { writer in
            writer.int("redo_all", keys.count)
            writer.hex("choice", choice)
        }
        return lines + end + [0x0A]
    }

    /// - Parameter line: one whose sum is known to be right.
    static func key(_ line: UnsafeRawBufferPointer) -> ResultKey? {
        (try? JSONValue(parsing: line, limits: .ownLine))?["redo"].flatMap(ResultKey.init)
    }

    /// - Parameter line: one whose sum is known to be right.
    static func end(_ line: UnsafeRawBufferPointer) -> (count: Int, choice: UInt64)? {
        guard let json = try? JSONValue(parsing: line, limits: .ownLine), let count = json.int("redo_all"),
            let choice = json.hex("choice")
        else { return nil }
        return (count, choice)
    }
}

/// A result that was made again is filed under its line's hash plus the number of the redo. So whatever knows results
/// by their keys (logs, verify) knows which seed each was made with. These are hashes of 64 bits, and
/// another content of the line has hardly ever one so near.
extension ResultKey {
    private static let redoLimit: UInt64 = 1 << 12

    /// The key of the next redo.
    var again: ResultKey { ResultKey(id: id, sample: sample, contentHash: contentHash &+ 1) }

    /// Returns how often a result was made again.
    /// - Parameters:
    ///   - filed: the hash that it has.
    ///   - hash: its line's.
    /// - Returns: nil if it is of another content.
    package static func redo(of filed: UInt64, from hash: UInt64) -> Int? {
        let number = filed &- hash
        return number < redoLimit ? Int(number) : nil
    }
}

/// Members of a record.
extension ResultKey {
    func write(to writer: inout JSONWriter) {
        writer.string("id", id)
        writer.int("sample", sample)
        writer.hex("line_hash", contentHash)
    }

    init?(_ json: JSONValue) {
        guard let id = json.string("id"), let sample = json.int("sample"), let hash = json.hex("line_hash")
        else { return nil }
        self.init(id: id, sample: sample, contentHash: hash)
    }
}

/// Results of a finished output that are to be made again.
extension LogStore {
    /// Has a run that begins after this make results again, and closes the store.
    /// - Parameters:
    ///   - keys: those of the results to come.
    ///   - choice: by what they were chosen.
    package func redo(_ keys: [ResultKey], choice: UInt64) throws {
        defer { lock.release() }
        try failing {
            try writer.begin(with: RedoMark.lines(keys, choice: choice))
            try writer.sync()
        }
    }
}
