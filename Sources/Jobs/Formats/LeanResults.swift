import JSON

/// JSON lines with only the data; everything else is in the output's log.
///
///     {"id":"…"[,"sample":S]<kept>,<data>}
///     {"id":"…"[,"sample":S]<kept>,"error":{…}}
///
/// The data are those of the task's result (`ResultMembers.data`). `sample` is present if a line has several results.
/// Dropped rows are left out.
package struct LeanResults: ResultFormat {
    package let name = "jsonl+lean"

    package init() {}

    package func showing(_ detail: ResultDetail) -> (any ResultFormat)? { detail.lines }

    package func makeEncoder(for run: ResultRun) -> any ResultEncoder {
        RowEncoder(hasSamples: run.samples > 1) { result, writer in
            if result.isDropped { return false }
            ResultCoding.write(result.withoutTiming, .data, to: &writer)
            return true
        }
    }
}

/// Members of each result in an output, set by `results`. Each is a format of JSON lines and a line here.
public struct ResultDetail: RawRepresentable, CaseIterable, Sendable, Equatable {
    /// All members.
    public static let full = ResultDetail("full", "all", NativeResults())
    /// All except times: two runs give the same file.
    public static let data = ResultDetail(
        "data", "all but timing, so that two runs give the same file", NativeResults.data)
    /// Only the data; the rest is in the log.
    public static let lean = ResultDetail(
        "lean", "the data alone (id, texts, classes, scores, steps, fields that keep names)", LeanResults())
    /// The conversation with its answer, to train a model.
    public static let messages = ResultDetail(
        "messages", "conversations to train a model with, failed and dropped ones left out", MessagesResults()
    )

    public static let allCases = [full, data, lean, messages]

    /// Name in a job file.
    public let rawValue: String
    let help: String
    /// Format of JSON lines.
    let lines: any ResultFormat

    private init(_ name: String, _ help: String, _ lines: any ResultFormat) {
        (rawValue, self.help, self.lines) = (name, help, lines)
    }

    public init?(rawValue: String) {
        guard let detail = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = detail
    }

    public static func == (a: Self, b: Self) -> Bool { a.rawValue == b.rawValue }
}
