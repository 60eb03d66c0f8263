import JSON

extension ResultFormat {
    /// JSON objects in UTF-8, one a line, with the members that the job's `results` selects.
    package static let jsonl = ResultFormat(word: "jsonl", ownDetail: .full, makeWriter: rows)

    /// The same as the elements of an array, each on a line.
    ///
    ///     [
    ///     {"id":"…",…},
    ///     {"id":"…",…}
    ///     ]
    ///
    /// Without results the array is `[]`. The comma stands before a result, as the last one is not known in advance.
    package static let json = ResultFormat(
        word: "json", nameEnds: ["json"], start: "[", ends: ("\n]\n", "]\n"), ownDetail: .full,
        makeWriter: rows)

    @Sendable private static func rows(_ format: Self) -> Writer {
        let (isArray, detail) = (!format.start.isEmpty, format.detail)
        return { piece, output in
            var (writer, isThere) = (JSONWriter(), false)
            writer.object { writer in
                if detail.carried == nil {
                    writer.string("id", piece.record.key.id)
                    if piece.samples > 1 { writer.int("sample", piece.record.key.sample) }
                }
                isThere = detail.write(piece.record.result, &writer)
            }
            guard isThere else { return }
            if isArray { output += (piece.isFirst ? "\n" : ",\n").utf8 }
            output += writer.bytes
            if !isArray { output.append(0x0A) }
        }
    }
}

/// Members of each result in an output, set by `results`.
///
///     {"id":"…"[,"sample":N]<kept>,<members of ResultCoding>[,"timing":{…}]}
///
/// `sample` is present if a line has several results.
public struct ResultDetail: RawRepresentable, CaseIterable, Sendable, Equatable {
    /// All members.
    public static let full = ResultDetail("full", "all") { result, writer in
        ResultCoding.write(result, .row, to: &writer)
        return true
    }
    /// All except times: two runs give the same file.
    public static let data = ResultDetail("data", "all but timing, so that two runs give the same file") {
        result, writer in
        ResultCoding.write(result.withoutTiming, .row, to: &writer)
        return true
    }
    /// Only the data (`ResultMembers.data`), without dropped rows; the rest is in the log.
    public static let lean = ResultDetail(
        "lean", "the data alone (id, texts, classes, scores, steps, fields that keep names)"
    ) { result, writer in
        if result.isDropped { return false }
        ResultCoding.write(result.withoutTiming, .data, to: &writer)
        return true
    }
    /// The conversation with its answer, to train a model.
    public static let messages = ResultDetail(
        "messages", "conversations to train a model with, failed and dropped ones left out",
        carried: Conversations.carried, problem: Conversations.problem, write: Conversations.write)

    public static let allCases = [full, data, lean, messages]

    /// Name in a job file.
    public let rawValue: String
    let help: String
    /// Part of the prompt that results carry in place of their id; nil if none is needed.
    let carried: CarriedPrompt?
    /// Returns the reason why it can't show a job's results; nil if it can.
    let problem: @Sendable (JobSettings) -> String?
    /// Writes a result's members; returns false if the output has no row for it.
    let write: @Sendable (GenerationResult, inout JSONWriter) -> Bool

    private init(
        _ name: String, _ help: String, carried: CarriedPrompt? = nil,
        problem: @escaping @Sendable (JobSettings) -> String? = { _ in nil },
        write: @escaping @Sendable (GenerationResult, inout JSONWriter) -> Bool
    ) {
        (rawValue, self.help, self.carried, self.problem) = (name, help, carried, problem)
        self.write = write
    }

    public init?(rawValue: String) {
        guard let detail = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = detail
    }

    public static func == (a: Self, b: Self) -> Bool { a.rawValue == b.rawValue }
}
