import JSON

/// JSON lines in UTF-8: one object a result, with the members that the job's `results` selects.
package struct NativeResults: ResultFormat {
    private let detail: ResultDetail

    package init(_ detail: ResultDetail = .full) { self.detail = detail }

    package var name: String { "jsonl\(detail.nameEnd)" }
    package func showing(_ detail: ResultDetail) -> (any ResultFormat)? { Self(detail) }
    package func problem(with job: JobSettings) -> String? { detail.problem(job) }

    package func makeEncoder(for run: ResultRun) -> any ResultEncoder {
        RowEncoder(detail: detail, hasSamples: run.samples > 1)
    }
}

/// Encodes results as JSON rows.
struct RowEncoder: ResultEncoder {
    let detail: ResultDetail
    let hasSamples: Bool

    mutating func append(_ result: GenerationResult, at place: ResultPlace, to output: inout [UInt8]) {
        var (writer, isThere) = (JSONWriter(), false)
        writer.object { writer in
            if detail.carried == nil { writer.string("id", place.key.id) }
            if detail.carried == nil, hasSamples { writer.int("sample", place.key.sample) }
            isThere = detail.write(result, &writer)
        }
        if isThere { output += writer.bytes + [0x0A] }
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

    /// End of the names of formats that show it.
    var nameEnd: String { self == .full ? "" : "+\(rawValue)" }

    public static func == (a: Self, b: Self) -> Bool { a.rawValue == b.rawValue }
}
