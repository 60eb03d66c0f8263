import PhiText

extension JobStep {
    static let turnsRange = 2...50

    /// A conversation, as the steps that it consists of: two prompts answer each other. The step itself asks first, with
    /// its prompt; what is answered is replied to, and so on. Its own turns are called `talk`, `talk_2`, `talk_3` and so
    /// on, the replies between them `talk_reply`, `talk_reply_2` and so on.
    ///
    /// Each side sees the conversation with its own part as the assistant's. `where`, `each` and `samples` of the step
    /// are its first turn's; `accept`, `distinct` and `tries` the last one's.
    /// - Parameters:
    ///   - turns: how many turns are the step's own; at least 2.
    ///   - reply: what the other side is asked with: a prompt, which comes before the conversation, its system message
    ///     and settings. What it leaves open is the job's.
    public func conversation(turns: Int, reply: JobSettings) -> [JobStep] {
        func name(_ base: String, _ turn: Int) -> String { turn == 1 ? base : "\(base)_\(turn)" }
        let answer = "\(self.name)_reply"
        var steps: [JobStep] = []
        // What either side has said, as it sees it itself.
        var own = settings.messages
        if let prompt = settings.prompt { own.append(ChatMessage(role: "user", content: prompt)) }
        var others = reply.messages
        if let prompt = reply.prompt { others.append(ChatMessage(role: "user", content: prompt)) }
        if let opening = settings.prompt { others.append(ChatMessage(role: "assistant", content: opening)) }
        for turn in 1...turns {
            var step = self
            step.name = name(self.name, turn)
            (step.settings.prompt, step.settings.messages) = (nil, own)
            if turn > 1 {
                (step.condition, step.each, step.settings.samples) = (self.name, nil, nil)
            }
            if turn < turns { (step.accept, step.distinct, step.tries) = (nil, nil, 1) }
            steps.append(step)
            guard turn < turns else { break }
            let said = "{{ \(step.name).text }}"
            others.append(ChatMessage(role: "user", content: said))
            var other = JobStep(name(answer, turn))
            other.condition = self.name
            other.settings = reply
            (other.settings.prompt, other.settings.messages) = (nil, others)
            steps.append(other)
            let replied = "{{ \(other.name).text }}"
            own += [
                ChatMessage(role: "assistant", content: said), ChatMessage(role: "user", content: replied),
            ]
            others.append(ChatMessage(role: "assistant", content: replied))
        }
        return steps
    }
}
