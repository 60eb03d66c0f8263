import JSON

/// A job's task for its lines.
public struct JobTask: RawRepresentable, Sendable, Equatable, CaseIterable {
    /// Generates an answer to each line's prompt, or chooses one of some answers.
    public static let generate = JobTask("generate", GenerateTask.self, GeneratedResult.self)
    /// Scores the likelihood of each line's given answer.
    public static let score = JobTask("score", ScoreTask.self, ScoredResult.self)

    /// A row of several results, in a job with steps. No job file names it.
    public static let steps = JobTask("steps", StepPlan.self, StepsResult.self)

    public static let allCases = [generate, score]

    /// The name in job files.
    public let rawValue: String
    /// Prepares its lines.
    let type: any LineTask.Type
    /// The type of its results.
    let made: any TaskResult.Type

    init(_ name: String, _ type: any LineTask.Type, _ made: any TaskResult.Type) {
        (rawValue, self.type, self.made) = (name, type, made)
    }

    public init?(rawValue: String) {
        guard let task = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = task
    }

    public static func == (a: Self, b: Self) -> Bool { a.rawValue == b.rawValue }

    /// The members that its results may have, besides those of all results.
    var resultNames: Set<String> { made.names }

    /// Whether its results are answers.
    package var answers: Bool { self != .score }

    /// The columns of a table of a job's results; nil if no table holds them.
    func columns(of job: JobSettings) -> [String]? {
        let columns = made.columns(of: job)
        return job.choosesAlways ? columns.map { $0 + ["probability", "probabilities"] } : columns
    }

    // MARK: Reading results

    private static let withResults = allCases + [steps]

    /// Returns the task of a result that begins with this member.
    static func named(byFirst name: String) -> JobTask? {
        withResults.first { $0.resultNames.contains(name) }
    }

    /// Reads a result's own members, the first of which names the task; nil if they are none.
    static func result(of log: JSONValue) -> (any TaskResult)? {
        guard case .object(let members) = log, let first = members.first else { return nil }
        return named(byFirst: first.name)?.made.init(log)
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
