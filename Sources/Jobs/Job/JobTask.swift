/// What a job does with its lines.
public enum JobTask: String, Sendable, CaseIterable {
    /// The model answers each line's prompt.
    case generate
    /// The model says how likely it finds what each line gives as the answer.
    case score
}

extension JobSettings {
    /// What doesn't go with the task, in words that follow nothing; nil if all does.
    var taskProblem: String? {
        if let problem = keep.problem(for: task) { return "keep \(problem)." }
        switch task {
        case .generate:
            guard completion != nil else { return nil }
            return "completion is what is scored; it needs task: score (or the command phibatch score)."
        case .score:
            let unset = JobSettings()
            let generation =
                JobKey.sampling + JobKey.answers + JobKey.results.filter { $0.name == "logprobs" }
            if let key = generation.first(where: { $0.member.text(self) != $0.member.text(unset) }) {
                let more = key.name == "logprobs" ? " Each token's log-probability is there anyway." : ""
                return
                    "\(key.name) has no meaning where nothing is generated (task: score); leave it out.\(more)"
            }
            return nil
        }
    }
}

extension JobKey {
    static let task = JobKey(
        "task", "generate|score",
        "generate answers (the default), or score: how likely the model finds the line's completion, in place of an "
            + "answer (\"phibatch score\" says more)",
        .word(\.task, unset: .generate), effect: .ifSet)

    static let completion = JobKey(
        "completion", "TEXT",
        "what is scored: a template over the line's fields; {{ FIELD }} alone may be a list of strings (default "
            + "{{ completion }}, or {{ text }} in lines without it)",
        .string(\.completion), effect: .ifSet)
}
