import BatchEngine

extension JobSettings {
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
            name == setting?.name && setting?.group == .results
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
        switch group {
        case .sampling, .answers:
            "\(name) has no meaning with choices, which are compared as whole answers; leave it out."
        case .results: "\(name) can't be combined with choices; each choice's probability is there anyway."
        }
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
