import BatchEngine
import FoundationShim
import OperatingSystem

/// Form of a model's reasoning before its answer.
package struct ReasoningText: Sendable {
    /// Whether the model's files say that it reasons.
    package let isUsual: Bool
    private let tags: ReasoningTags
    /// Tokenizes a text that continues another. The flag turns texts of control tokens into those tokens.
    private let encode: @Sendable (_ text: String, _ isControl: Bool) -> [Int32]
    private let text: @Sendable (Int32) -> String

    package init(
        _ tags: ReasoningTags, isUsual: Bool, text: @escaping @Sendable (Int32) -> String,
        encode: @escaping @Sendable (_ text: String, _ isControl: Bool) -> [Int32]
    ) {
        (self.tags, self.isUsual, self.text, self.encode) = (tags, isUsual, text, encode)
    }

    init(_ tokenizer: Tokenizer, folder: String) throws {
        var tags = ReasoningTags()
        func single(_ tag: String) -> Int32? {
            let tokens = tokenizer.encode(continuing: tag, isControl: true)
            return tokens.count == 1 ? tokens.first : nil
        }
        tags.openingToken = single(tags.opening)
        tags.closingToken = single(tags.closing)
        self.init(tags, isUsual: try Self.isUsual(folder: folder), text: tokenizer.text) {
            tokenizer.encode(continuing: $0, isControl: $1)
        }
    }

    /// Whether a model reasons: its chat template or its tokenizer has the tags, or its folder's name says so, as with
    /// Phi-4-mini-reasoning, which has neither.
    /// - Throws: `UserError` if a file can't be read.
    package static func isUsual(folder: String) throws -> Bool {
        var names = folder.split(at: "/")
        // In a hub's cache the folder of a version is named by a hash.
        if names.dropLast().last == "snapshots" { names.removeLast(2) }
        if names.last?.lowercased().contains("reasoning") == true { return true }
        return try ["chat_template.jinja", "tokenizer_config.json"].contains { name in
            let path = Paths.join(folder, name)
            guard Files.kind(of: path) != nil else { return false }
            return try MappedFile(path: path).withBytes { $0.firstRange(of: "think>".utf8) != nil }
        }
    }

    /// Returns the plan of reasoning after a prompt.
    /// - Parameters:
    ///   - prompt: its `tokens` and its source.
    ///   - maxTokens: of the completion.
    /// - Returns: nil if the prompt contains the reasoning already.
    package func reasoning(
        after prompt: Prompt, _ tokens: [Int32], _ settings: RequestSettings, maxTokens: Int,
        of model: ModelLimits
    ) -> ReasoningPlan? {
        var prefix: String?
        if case .continued(_, let text) = prompt { prefix = text }
        let place = place(tokens, prefix)
        let limit = settings.reasoningLimit(maxTokens: maxTokens)
        guard place != .after else { return nil }
        var reasoning = ReasoningPlan(tags, isOpen: place == .within, vocabularySize: model.vocabularySize)
        if !reasoning.isOpen { reasoning.opening = encode(tags.opening + "\n", true) }
        let ending = settings.reasoningEnding ?? RequestSettings.defaultReasoningEnding
        let sentence = limit == 0 ? "" : "\n" + ending
        reasoning.closing = encode(sentence + "\n" + tags.closing, true)
        reasoning.limit = limit
        reasoning.ends = model.endOfSequence
        return reasoning
    }

    /// Text between reasoning and a constrained answer.
    package var gap: [Int32] { encode("\n\n", true) }

    /// Tokenizes an answer after reasoning.
    package func encode(answer: String) -> [Int32] { encode(answer, false) }

    private enum TagPosition { case before, within, after }

    private func place(_ prompt: [Int32], _ prefix: String?) -> TagPosition {
        if let prefix {
            let last = [tags.opening, tags.closing].compactMap { prefix.ranges(of: $0).last }
                .max { $0.lowerBound < $1.lowerBound }
            if let last { return prefix[last] == tags.opening ? .within : .after }
        }
        // Some templates begin the reasoning, or skip it.
        let end = prompt.suffix(12).map(text).joined()
        let back = end.reversed().drop(while: \.isWhitespace)
        if back.starts(with: tags.opening.reversed()) { return .within }
        return back.starts(with: tags.closing.reversed()) ? .after : .before
    }
}
