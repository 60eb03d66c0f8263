import BatchEngine
import PhiText

/// What a model thinks before it chooses, as a request of its own.
struct PreparedThought: PreparedLine {
    let thought: Thought
    /// The most tokens of the thought and the choice together.
    let maxTokens: Int
    let use: Reasoning.Use
    let choice: PreparedChoice

    private var question: EncodedQuestion { choice.question }
    var prompt: [Int32] { choice.prompt }
    var lengths: [(prompt: Int, completion: Int)] { [(prompt.count, maxTokens)] }
    var isCovered: Bool { choice.isCovered }
    var missing: [String] { choice.missing }

    func work(_ label: WorkLabel, saved: InFlightRecord?, _ maker: RequestMaker) -> [Work] {
        let settings = question.settings
        let goal = Sampling(
            maxTokens: maxTokens - choice.tree.depth, sampling: SamplingParameters(settings),
            constraintID: Array("choices".utf8), thought: thought, formAfterThought: { _ in NothingMore() },
            stream: RandomStream.key(
                seed: question.seed &+ label.redo, id: label.streamID, sample: label.streamSample, attempt: 0),
            endOfSequence: maker.limits.endOfSequence, stops: .none, text: maker.text.makeTextStream(),
            saved: saved.map { Sampling.Saved(tokens: $0.tokens, notes: $0.logprobs) })
        let part = ThoughtPart(label: label, choice: choice, use: use, maker: maker)
        return [.request(maker.request(prompt, goal, asked: settings.content(of: .generate), for: part))]
    }
}

/// A thought, after which one of some answers is chosen.
private struct ThoughtPart: WorkPart {
    var label: WorkLabel
    let choice: PreparedChoice
    let use: Reasoning.Use
    let maker: RequestMaker

    /// The choice comes after it.
    var mayComeAgain: Bool { true }

    func outcome(
        of sequence: TokenSequence, _ provenance: [String: String], in job: JobSettings
    ) -> WorkOutcome {
        .more([
            .request(choice.request(label, after: (sequence.outcome(SamplingCourse.self), use), maker))
        ])
    }
}

/// After a thought by itself nothing comes.
private struct NothingMore: Constraint {
    let isComplete = true
    func allowed() -> TokenMask { TokenMask(count: 0) }
    mutating func accept(_ token: Int32) -> Bool { false }
}
