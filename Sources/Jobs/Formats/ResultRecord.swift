import JSON

/// Key of a result: one sample of one input line with this exact content.
package struct ResultKey: Hashable, Sendable {
    /// The line's id (its own, or its number as text).
    package var id: String
    /// 0 ..< samples.
    package var sample = 0
    /// Hash of everything in the line that its result depends on (`LineScheme`).
    package var contentHash: UInt64
}

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
    /// - Parameters:
    ///   - line: one whose sum is known to be right.
    ///   - isWhole: false reads of the result only its counts or its error, as an index needs.
    /// - Returns: nil if it is no record.
    init?(_ line: UnsafeRawBufferPointer, isWhole: Bool = true) {
        var (id, sample, hash, run) = (String?.none, Int?.none, UInt64?.none, String?.none)
        var (repetition, task) = (0, JobTask?.none)
        var (own, kept, timing) = ([JSONMember](), [JSONMember](), JSONObject?.none)
        // After the counts, or the error, other names than those of results are the line's.
        var isOwn = true
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
                } else if !isWhole, !isOwn || !(name.spells("usage") || name.spells("error")) {
                    try scanner.skip()
                } else {
                    let name = String(decoding: name, as: UTF8.self)
                    let member = JSONMember(name: name, value: try scanner.value())
                    // The first one identifies the task, or an error.
                    if own.isEmpty { task = JobTask.named(byFirst: name) }
                    if !isOwn, name == "timing", case .object(let times) = member.value {
                        timing = times
                    } else if isOwn || task?.resultNames.contains(name) == true
                        || KeptFields.commonNames.contains(name)
                    {
                        own.append(member)
                    } else {
                        kept.append(member)
                    }
                    if name == "usage" || name == "error" { isOwn = false }
                }
            }
        }
        let result = GenerationResult(
            JSONObject(distinct: own), timing: timing, kept: JSONObject(distinct: kept))
        guard isRead != nil, let id, let sample, sample >= 0, repetition >= 0, let hash, let run,
            result.isComplete, !isWhole || task != nil || result.isFailed
        else { return nil }
        self.init(
            key: ResultKey(id: id, sample: sample, contentHash: hash), repetition: repetition, run: run,
            result: result)
    }
}
