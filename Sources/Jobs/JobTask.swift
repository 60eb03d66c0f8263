import BatchEngine

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

    /// A conflict of settings with the task, as a sentence of its own; nil if there is none.
    var taskProblem: String? {
        if let problem = keep.problem(for: task) { return "keep \(problem)." }
        if task.answers {
            guard completion != nil else { return nil }
            return "completion is what is scored; it needs task: score."
        }
        let setting = RequestSetting.all.first { !$0.tasks.contains(.score) && $0.isSet(in: request) }
        guard let name = answerFormats.first?.key ?? setting?.name else { return nil }
        let more =
            RequestSetting.results.contains { $0.name == name }
            ? " Each token's log-probability is there anyway." : ""
        return
            "\(name) has no meaning where nothing is generated (task: \(task.rawValue)); leave it out.\(more)"
    }

    /// A conflict of settings with choices, as a sentence of its own; nil if there is none.
    var choicesProblem: String? {
        guard request.choices?.isEmpty == false else { return nil }
        if let key = answerFormats.first?.key {
            return "\(key) and choices both constrain the answer; keep one."
        }
        return RequestSetting.all.first { !$0.tasks.contains(.choose) && $0.isSet(in: request) }?
            .choicesProblem
    }
}

extension RequestSetting {
    /// The reason against it beside choices.
    var choicesProblem: String {
        Self.results.contains { $0.name == name }
            ? "\(name) can't be combined with choices; each choice's probability is there anyway."
            : "\(name) has no meaning with choices, which are compared as whole answers; leave it out."
    }
}

/// The end of a job by accepted rows.
extension JobSettings {
    static let untilRange = 1...1_000_000_000

    /// Number of accepted rows that ends a job with steps; nil for all lines.
    public var until: Int? {
        get { selection.wanted }
        set { selection = newValue.map { .init(shard: selection.shard, wanted: $0) } ?? .all }
    }

    /// An error of `until`; nil if all is well.
    var untilProblem: String? {
        guard let wanted = until ?? untilPerLine else { return nil }
        if steps.isEmpty { return "needs steps, which say what is accepted" }
        let range = Self.untilRange
        if !range.contains(wanted) { return "must be \(range.right), but is \(wanted)" }
        guard let shard = selection.shard, let until, until < shard.count else { return nil }
        return "can't be shared out: there are \(shard.count) shards, and \(until) accepted rows are wanted"
    }

    /// Returns the settings with the lines of a finished output, if only its end shows them.
    package func asFinished(in output: String) throws -> JobSettings {
        let isOpen = selection == .all || selection.wanted != nil && selection.lines == nil
        guard isOpen, AcceptFilter(self) != nil else { return self }
        var job = self
        guard let ended = OutputLog.header(of: output)?.shard.flatMap(LineSelection.init(name:)) else {
            return self
        }
        // Each of joined shards has ended by its own rows.
        let isOwn = ended.isJoined || until != nil && ended.shard == selection.shard
        if isOwn, ended.wanted == until { job.selection = ended }
        return job
    }
}
