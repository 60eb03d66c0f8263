/// What an output has of each result, as `results` of a job says. Each is a format of JSON lines and a line here.
public struct ResultDetail: RawRepresentable, CaseIterable, Sendable, Equatable {
    /// All.
    public static let full = ResultDetail("full", "all", NativeResults())
    /// The data alone: the rest is in the record beside it.
    public static let lean = ResultDetail(
        "lean", "the data alone (id, texts, classes, scores, steps, fields that keep names)", LeanResults())
    /// The conversation with its answer, to train a model with.
    public static let messages = ResultDetail(
        "messages", "conversations to train a model with, failed and dropped ones left out", MessagesResults()
    )

    public static let allCases = [full, lean, messages]

    /// As a job file names it.
    public let rawValue: String
    let help: String
    /// What results look like where the output has JSON lines.
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
