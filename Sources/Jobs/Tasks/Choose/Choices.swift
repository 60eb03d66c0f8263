import BatchEngine
import JSON
import OperatingSystem
import PhiText

/// Chooses the likeliest of some whole answers: the job's, those in a field that it names, or the line's own
/// `choices`.
extension GenerateTask {
    /// The field of a line's own choices.
    static let ownChoices = "choices"

    static func choicesField(_ job: JobSettings, _ builder: PromptBuilder) -> String? {
        // A line's `choices` that are in the prompt are not its choices, unless the job says so.
        let takesOwn =
            !job.choosesAlways && job.linesChoose && job.answerFormat == nil
            && (job.lineSettings?.contains(ownChoices) == true || !builder.fields.contains(ownChoices))
        return takesOwn ? ownChoices : ChoiceList.field(in: job.choices ?? [])
    }

    /// Returns the answers that a line chooses from; nil if it doesn't choose.
    func choices(of record: PromptRecord) throws(LineError) -> [String]? {
        guard let name = choicesField else { return job.choosesAlways ? job.choices : nil }
        guard job.choosesAlways || record.reading.reads(name),
            let elements = try record.fields.list(name, "a list of strings, the answers to choose from")
        else {
            guard job.choosesAlways else { return nil }
            throw LineError(.badField, "The line has no `\(name)`, which the job names for its choices.")
        }
        let texts = try JSONValue.strings(elements, of: name)
        if let problem = ChoiceList.problem(with: texts) {
            throw LineError(.badField, "`\(name)` \(problem).")
        }
        return texts
    }

    func prepare(
        _ record: PromptRecord, choosing texts: [String], by maker: () throws -> RequestMaker
    ) throws -> PreparedLine {
        let question = try EncodedPrompt(record, job, builder, maker)
        if !job.choosesAlways, let form = record.form, form.isConstraint {
            throw LineError(.badField, "`choices` and a constraint exclude each other; keep one.")
        }
        try refuseSettings(of: question, record.request)
        let maker = question.maker
        let choice: Choice
        if let reasoning = try question.reasoning(), let reasonings = maker.text.reasonings {
            let tree = try Self.tree(
                texts.map { reasonings.encode(answer: $0) }, of: texts, ends: maker.limits.endOfSequence)
            var plan = reasoning.plan
            plan.gap = reasonings.gap
            plan = try plan.beforeAnswer(ofAtLeast: tree.depth, maxTokens: question.maxTokens)
            choice = Choice(
                question: question, prompt: question.tokens, texts: texts, tree: tree, use: reasoning.use,
                plan: plan)
        } else {
            let covered = try maker.covered(record).flatMap(self.choices) ?? texts
            choice = try choosing(texts, covered, after: question)
        }
        let completion = choice.plan == nil ? choice.tree.depth : question.maxTokens
        return PreparedLine(
            prompt: choice.prompt, lengths: [(choice.prompt.count, completion)], isCovered: maker.isCovered,
            missing: question.missing
        ) { label, saved in [choice.begun(label, saved)] }
    }

    /// Makes the tree of tokens of a line's choices.
    /// - Parameter covered: the texts with control tokens escaped.
    private func choosing(
        _ texts: [String], _ covered: [String], after question: EncodedPrompt
    ) throws -> Choice {
        let (maker, limits, own) = (question.maker, question.maker.limits, question.tokens)
        if case .tokens = question.content {
            throw LineError(
                .badField, "`prompt` is a list of token ids, which choices, being texts, can't be put to.")
        }
        guard !limits.endOfSequence.isEmpty else {
            throw LineError(
                .badField, "Choices need a token that ends an answer, and the model's files name none.")
        }
        let all = try covered.map { choice in
            try maker.tokens(of: question.content.followed(by: choice), below: limits.contextLength + 1)
        }
        // If a token spans prompt and choice, all choices begin before it, so that they follow equal tokens.
        let split = max(1, all.map { zip($0, own).prefix { $0 == $1 }.count }.min() ?? 0)
        let tree = try Self.tree(
            all.map { Array($0.dropFirst(split)) }, of: texts, ends: limits.endOfSequence)
        if let limit = question.settings.maxTokens, tree.depth > limit {
            let longest = all.indices.max { all[$0].count < all[$1].count } ?? 0
            throw LineError(
                .badField,
                "max_tokens is \(limit), but the choice \(ChoiceList.shown(texts[longest])) has \(tree.depth) tokens; it must be \(tree.depth) at least."
            )
        }
        guard split + tree.depth <= limits.contextLength else {
            throw LineError(
                .promptTooLong,
                "The prompt has \(own.count) tokens and its longest choice \(tree.depth), but the model's context holds \(limits.contextLength)."
            )
        }
        return Choice(question: question, prompt: Array(own.prefix(split)), texts: texts, tree: tree)
    }

    /// - Throws: `LineError` if choices can't be told apart by their tokens.
    static func tree(
        _ choices: [[Int32]], of texts: [String], ends: Set<Int32>
    ) throws(LineError) -> LabelTree {
        let name = { (number: Int) in "the choice \(ChoiceList.shown(texts[number]))" }
        var seen: [[Int32]: Int] = [:]
        for (number, choice) in choices.enumerated() {
            if choice.isEmpty {
                throw LineError(.badField, "After the prompt \(name(number)) adds no token.")
            }
            if choice.contains(where: ends.contains) {
                throw LineError(
                    .badField, "After the prompt \(name(number)) holds a token that ends an answer.")
            }
            if let other = seen.updateValue(number, forKey: choice) {
                throw LineError(
                    .badField,
                    "After the prompt \(name(other)) and \(name(number)) are the same tokens; keep one of them."
                )
            }
        }
        return LabelTree(choices, ends: ends)
    }

    /// - Throws: `LineError` if the line, or the job of a line with its own choices, sets how single tokens are
    ///   chosen.
    private func refuseSettings(of question: EncodedPrompt, _ request: OpenAIRequest?) throws(LineError) {
        if let other = RequestSetting.all.first(where: {
            !$0.tasks.contains(.choose) && $0.changes(question.settings)
        }) {
            throw LineError(.badField, other.choicesProblem)
        }
        if request?.echoes == true || request?.asksNothing == true {
            throw LineError(
                .badField,
                "`echo` and `max_tokens`: 0 have no place where choices are compared; leave them, or the choices, out."
            )
        }
        if !job.choosesAlways, job.outputFormat.hasColumns {
            throw LineError(
                .badField,
                "The line has `choices`, but the output no column for their probabilities; the job's choices: \"{{ choices }}\" makes one."
            )
        }
    }
}

/// A choice between some answers after a prompt.
private struct Choice: Sendable {
    let question: EncodedPrompt
    let prompt: [Int32]
    let texts: [String]
    let tree: LabelTree
    /// Use of the reasoning before it, and its plan; nil if there is none.
    var use: RequestSettings.ReasoningUse?
    var plan: ReasoningPlan?

    /// Returns the request that comes first: of the reasoning, after which it is made, or its own.
    func begun(_ label: RequestLabel, _ saved: InFlightRecord?) -> PendingRequest {
        guard let plan else { return request(label) }
        let (maker, settings) = (question.maker, question.settings)
        let kind = Sampling(
            maxTokens: question.maxTokens - tree.depth, sampling: SamplingParameters(settings),
            form: { _ in NothingMore() }, constraintID: Array("choices".utf8), reasoning: plan,
            stream: label.stream(seed: question.seed &+ label.redo),
            endOfSequence: maker.limits.endOfSequence, stops: .none, text: maker.text.makeTextStream())
        let request = maker.request(prompt, kind, asked: settings.content(of: .generate), saved: saved)
        let owned = OwnedRequest(request: request, label: label, isCertain: false) { ended in
            .more([self.request(label, after: ended.decoding.of(SamplingDecoding.self))])
        }
        return .request(owned)
    }

    /// - Parameter reasoning: before it, whose request has counted the prompt.
    private func request(_ label: RequestLabel, after reasoning: SamplingDecoding? = nil) -> PendingRequest {
        let request = question.maker.request(
            prompt + (reasoning?.sampled ?? []), tree, asked: question.settings.content(of: .choose))
        let owned = OwnedRequest(request: request, label: label, sharesPrompt: reasoning != nil) { ended in
            outcome(of: ended, label, after: reasoning)
        }
        return .request(owned)
    }

    private func outcome(
        of ended: EndedRequest, _ label: RequestLabel, after reasoning: SamplingDecoding?
    ) -> RequestOutcome {
        let seed = question.seed &+ label.redo
        let weights = ChoiceWeights(
            tree, count: texts.count, answers: ended.decoding.of(LabelTreeScoring.self).answers)
        let chosen = weights.chosen(
            temperature: question.settings.temperature ?? 0,
            stream: label.stream(seed: seed))
        let tokens = tree.tokens(of: chosen)
        let reasoningTokens = reasoning?.sampled ?? []
        var answer = GenerationResult.completion(
            texts[chosen],
            // The text is one of the choices, even where reasoning is kept in it.
            after: reasoning, as: use == .keep ? .separate : use, finishReason: .stop,
            probabilities: Array(zip(texts, weights.probabilities)), promptTokens: question.tokens.count,
            completionTokens: reasoningTokens.count + tokens.count, seed: seed,
            tokens: question.keepsTokens ? reasoningTokens + tokens : nil, provenance: ended.provenance)
        answer.timing = ended.times(label, tokens: tokens.count)
        return .made(answer, isOwn: ended.isOwn)
    }
}

/// The probabilities of some answers, and the choice between them. In Doubles, by fixed arithmetic in the given order:
/// the same bits on every machine.
struct ChoiceWeights {
    /// Natural logarithms of each choice's probability as the whole answer: the sum over its tokens and its end, which
    /// may be any of the tokens that end an answer.
    let logprobs: [Double]
    private let most: Double

    /// - Parameter answers: to all questions of the tree.
    init(_ tree: LabelTree, count: Int, answers: [Float]) {
        let answers = answers.map { Double($0.isFinite ? $0 : LogprobEntry.impossible) }
        logprobs = (0..<count).map { choice in
            let path = tree.path(of: choice)
            return path.tokens.reduce(0) { $0 + answers[$1] } + Self.logSum(answers[path.ends])
        }
        most = logprobs.max() ?? 0
    }

    /// ln(e^a + e^b + …); of one value itself.
    private static func logSum(_ values: ArraySlice<Double>) -> Double {
        let most = values.max() ?? 0
        return most + FixedArithmetic.log(values.reduce(0) { $0 + FixedArithmetic.exp($1 - most) })
    }

    /// Each e^((logprob - most) / temperature).
    private func weights(_ temperature: Double = 1) -> [Double] {
        logprobs.map { FixedArithmetic.exp(($0 - most) / temperature) }
    }

    /// The probability of each choice among all; they sum to 1, up to rounding.
    var probabilities: [Double] {
        let weights = weights()
        let sum = weights.reduce(0, +)
        return weights.map { $0 / sum }
    }

    /// Returns at temperature 0 the likeliest choice, the first of equals; else a random one with probabilities
    /// p^(1/temperature), normalized again.
    /// - Parameter stream: the request's random stream, of which the first number is used.
    func chosen(temperature: Float, stream: UInt64) -> Int {
        let likeliest = logprobs.indices.reduce(0) { logprobs[$1] > logprobs[$0] ? $1 : $0 }
        guard temperature > 0 else { return likeliest }
        let weights = weights(Double(max(temperature, 1e-6)))
        let target = RandomStream.uniform(stream: stream, position: 0) * weights.reduce(0, +)
        var sum = 0.0
        for (choice, weight) in weights.enumerated() {
            sum += weight
            if sum > target { return choice }
        }
        return likeliest
    }
}

/// Allows nothing after reasoning.
private struct NothingMore: Constraint {
    let isComplete = true
    func allowed() -> TokenMask { TokenMask(count: 0) }
    mutating func accept(_ token: Int32) -> Bool { false }
}
