import BatchEngine

extension JobSettings {
    /// What doesn't go with the task, in words that follow nothing; nil if all does.
    var taskProblem: String? {
        if let problem = keep.problem(for: task) { return "keep \(problem)." }
        if task.answers {
            guard completion != nil else { return nil }
            return "completion is what is scored; it needs task: score."
        }
        let setting = RequestSetting.all.first { !$0.tasks.contains(.score) && $0.isSet(in: request) }
        guard let name = askedForms.first?.key ?? setting?.name else { return nil }
        let more =
            name == setting?.name && setting?.group == .results
            ? " Each token's log-probability is there anyway." : ""
        return
            "\(name) has no meaning where nothing is generated (task: \(task.rawValue)); leave it out.\(more)"
    }
}

extension JobKey {
    static let task = JobKey(
        "task", "generate|score",
        "generate answers (the default), or score: how likely the model finds the line's completion, in place of an "
            + "answer (\"phibatch help score\" says more)",
        .word(\.task, unset: .generate), effect: .ifSet)

    static let completion = JobKey(
        "completion", "TEXT",
        "what is scored: a template over the line's fields; {{ FIELD }} alone may be a list of strings (default "
            + "{{ completion }}, or {{ text }} in lines without it)",
        .string(\.completion), effect: .ifSet)
}
