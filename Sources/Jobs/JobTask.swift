/// A job's task for its lines.
public struct JobTask: RawRepresentable, Sendable, Equatable, CaseIterable {
    /// Generates an answer to each line's prompt, or chooses one of some answers.
    public static let generate = JobTask("generate", [ChooseTask.self, GenerateTask.self])
    /// Scores the likelihood of each line's given answer.
    public static let score = JobTask("score", [ScoreTask.self])

    /// A row of several results, in a job with steps. No job file names it.
    public static let steps = JobTask("steps", [StepsTask.self])

    public static let allCases = [generate, score]

    /// The name in job files.
    public let rawValue: String
    /// The first one that accepts a line runs it.
    let types: [any LineTask.Type]

    init(_ name: String, _ types: [any LineTask.Type]) { (rawValue, self.types) = (name, types) }

    public init?(rawValue: String) {
        guard let task = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = task
    }

    public static func == (a: Self, b: Self) -> Bool { a.rawValue == b.rawValue }

    /// Whether its results are answers.
    package var answers: Bool { types.contains { $0.made.isAnswer } }
    /// The members that its results may have, besides those of all results.
    var resultNames: Set<String> { types.reduce([]) { $0.union($1.made.names) } }
    /// The columns of a table of a job's results; nil if no table holds them.
    func columns(of job: JobSettings) -> [String]? { types.first { $0.doesAll(of: job) }?.columns(of: job) }

    // MARK: Reading results

    private static let readers = (allCases + [steps]).reversed().flatMap(\.types).map { $0.made.reader }

    /// Returns the reader of a result that begins with this member.
    static func reader(first name: UnsafeBufferPointer<UInt8>, keeps: Bool) -> (any ResultReader)? {
        for reader in readers {
            if let made = reader.init(first: name, keeps: keeps) { return made }
        }
        return nil
    }
}

extension JobSettings {
    /// Each step as a job by itself; the job itself without steps.
    var parts: [JobSettings] { steps.isEmpty ? [self] : steps.map { $0.job(in: self) } }

    /// The setting that asks for details of each token; nil if none does.
    var tokenSetting: String? {
        if parts.contains(where: { $0.tokens == true }) { return "tokens" }
        return parts.contains { $0.logprobs != nil } ? "logprobs" : nil
    }
}
