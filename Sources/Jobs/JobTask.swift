/// A job's task for its lines.
public struct JobTask: RawRepresentable, Sendable, Equatable, CaseIterable {
    /// Generates an answer to each line's prompt, or chooses one of some answers.
    public static let generate = JobTask("generate", GenerateTask.self)
    /// Scores the likelihood of each line's given answer.
    public static let score = JobTask("score", ScoreTask.self)

    /// A row of several results, in a job with steps. No job file names it.
    public static let steps = JobTask("steps", StepPlan.self)

    public static let allCases = [generate, score]

    /// The name in job files.
    public let rawValue: String
    /// Prepares its lines.
    let type: any LineTask.Type
    /// The members that its results may have, besides those of all results.
    let resultNames: Set<String>

    init(_ name: String, _ type: any LineTask.Type) {
        (rawValue, self.type, resultNames) = (name, type, type.resultNames)
    }

    public init?(rawValue: String) {
        guard let task = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = task
    }

    public static func == (a: Self, b: Self) -> Bool { a.rawValue == b.rawValue }

    /// Whether its results are answers.
    package var answers: Bool { self != .score }

    /// The columns of a table of a job's results; nil if no table holds them.
    func columns(of job: JobSettings) -> [String]? { type.columns(of: job) }

    // MARK: Reading results

    private static let withResults = allCases + [steps]

    /// Returns the task of a result that begins with this member.
    static func named(byFirst name: String) -> JobTask? {
        withResults.first { $0.resultNames.contains(name) }
    }
}

extension JobSettings {
    /// Each step as a job by itself; the job itself without steps.
    var parts: [JobSettings] { steps.isEmpty ? [self] : steps.map { $0.job(in: self) } }

    /// Whether all its lines choose between answers.
    var choosesAlways: Bool { request.choices?.isEmpty == false }

    /// The setting that asks for details of each token; nil if none does.
    var tokenSetting: String? {
        if parts.contains(where: { $0.tokens == true }) { return "tokens" }
        return parts.contains { $0.logprobs != nil } ? "logprobs" : nil
    }
}
