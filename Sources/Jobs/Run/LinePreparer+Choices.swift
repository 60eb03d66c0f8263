import BatchEngine
import PhiText

/// From a line's choices to the tree of their tokens.
extension LinePreparer {
    /// The answers that one is chosen from.
    struct Choosing: Sendable {
        var texts: [String]
        var tree: ChoiceTree
        /// Tokens of the prompt by itself.
        var promptTokens: Int
    }

    /// - Parameters:
    ///   - content: the prompt, with what covers control tokens.
    ///   - prepared: as the line would be without choices.
    /// - Throws: `LineError`.
    func choosing(
        _ texts: [String], after content: Prompt, _ prepared: Prepared, _ record: PromptRecord,
        _ text: any TextCoding, _ limits: ModelLimits, _ shield: TextShield?
    ) throws -> Prepared {
        if case .tokens = content {
            throw LineError(
                .badField, "`prompt` is a list of token ids, which choices, being texts, can't be put to.")
        }
        guard !limits.endOfSequence.isEmpty else {
            throw LineError(
                .badField, "Choices need a token that ends an answer, and the model's files name none.")
        }
        let covered = try shield.map { try choices.texts(of: record.covered(by: $0)) ?? texts } ?? texts
        let own = prepared.prompt
        let all = try covered.map { choice in
            try encoded(content.followed(by: choice), text, limits, shield, below: limits.contextLength + 1)
        }
        // A token that has something of the prompt and of one choice: then all begin before it, or they would not be
        // likely after the same.
        let split = max(1, all.map { zip($0, own).prefix { $0 == $1 }.count }.min() ?? 0)
        let tree: ChoiceTree
        do throws(ChoiceTree.Fault) {
            tree = try ChoiceTree(all.map { Array($0.dropFirst(split)) }, ends: limits.endOfSequence)
        } catch {
            throw LineError(error, texts)
        }
        if let limit = [record.maxTokens, job.maxTokens].compactMap({ $0 }).min(), tree.depth > limit {
            let longest = all.indices.max { all[$0].count < all[$1].count } ?? 0
            throw LineError(
                .badField,
                "max_tokens is \(limit), but the choice \(ChoiceSource.shown(texts[longest])) has \(tree.depth) tokens; it must be \(tree.depth) at least."
            )
        }
        guard split + tree.depth <= limits.contextLength else {
            throw LineError(
                .promptTooLong,
                "The prompt has \(own.count) tokens and its longest choice \(tree.depth), but the model's context holds \(limits.contextLength)."
            )
        }
        var prepared = prepared
        prepared.prompt = Array(own.prefix(split))
        prepared.maxTokens = tree.depth
        prepared.choosing = Choosing(texts: texts, tree: tree, promptTokens: own.count)
        return prepared
    }

    /// - Throws: `LineError` if the line, or the job for a line with choices of its own, says how single tokens are
    ///   chosen.
    func refuseSettings(of prepared: Prepared, _ record: PromptRecord) throws(LineError) {
        let (sampling, rules) = (prepared.sampling, prepared.sampling.rules)
        for (name, isSet) in [
            ("top_p", sampling.topP != 1), ("top_k", sampling.topK != 0), ("min_p", sampling.minP != 0),
            ("presence_penalty", rules.presencePenalty != 0),
            ("frequency_penalty", rules.frequencyPenalty != 0),
            ("repetition_penalty", rules.repetitionPenalty != 1), ("logit_bias", !rules.bias.isEmpty),
            ("stop", !job.stop.isEmpty || !record.stop.isEmpty), ("ignore_eos", job.ignoreEndOfSequence),
            ("logprobs", sampling.logprobs != nil),
        ] where isSet {
            throw LineError(.badField, JobSettings.choicesProblem(with: name))
        }
        if job.choices.isEmpty, job.outputFormat.format.base is DelimitedResults {
            throw LineError(
                .badField,
                "The line has `choices`, but the output no column for their probabilities; the job's choices: \"{{ choices }}\" makes one."
            )
        }
    }
}

extension LineError {
    fileprivate init(_ fault: ChoiceTree.Fault, _ texts: [String]) {
        let name = { (number: Int) in "the choice \(ChoiceSource.shown(texts[number]))" }
        switch fault {
        case .same(let one, let other):
            self.init(
                .badField,
                "After the prompt \(name(one)) and \(name(other)) are the same tokens; keep one of them.")
        case .empty(let number):
            self.init(.badField, "After the prompt \(name(number)) adds no token.")
        case .ended(let number):
            self.init(
                .badField, "After the prompt \(name(number)) holds a token that ends an answer.")
        }
    }
}
