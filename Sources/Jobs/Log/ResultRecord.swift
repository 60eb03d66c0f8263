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
    /// - Parameter line: one whose sum is known to be right.
    init?(_ line: UnsafeRawBufferPointer) {
        var members: [JSONMember] = []
        let isRead: Void? = try? JSONScanner.scan(line, limits: .ownLine) { scanner in
            try scanner.object { scanner, name in
                let name = String(decoding: name, as: UTF8.self)
                members.append(JSONMember(name: name, value: try scanner.value()))
            }
        }
        // A field of the line may have this name, too.
        let isRepeated = members.dropFirst().first?.name == "repeat"
        let (repetition, start) = isRepeated ? (members[1].value.integer ?? 0, 2) : (0, 1)
        guard isRead != nil, members.count > start + 2, repetition >= 0 else { return nil }
        let known = JSONValue.object(JSONObject(members[..<(start + 2)] + members.suffix(2)))
        guard let id = known.string("id"), let sample = known.int("sample"), sample >= 0,
            let hash = known.string("line_hash").flatMap({ UInt64($0, radix: 16) }),
            let run = known.string("run"),
            let result = ResultCoding.result(of: members[(start + 2)...].dropLast(2))
        else { return nil }
        self.init(
            key: ResultKey(id: id, sample: sample, contentHash: hash), repetition: repetition, run: run,
            result: result)
    }
}
