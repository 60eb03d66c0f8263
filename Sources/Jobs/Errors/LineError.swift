/// Reason why a line gets no completion. It becomes the line's result, and the job goes on.
public struct LineError: Error, Equatable, Sendable {
    public enum Code: String, Sendable, CaseIterable {
        case invalidUTF8 = "invalid_utf8"
        case invalidJSON = "invalid_json"
        case lineTooLong = "line_too_long"
        case badField = "bad_field"
        case duplicateID = "duplicate_id"
        /// The line has the error of an earlier job.
        case earlierError = "earlier_error"
        case missingPrompt = "missing_prompt"
        /// The prompt is white space only.
        case emptyPrompt = "empty_prompt"
        /// A template of the job or the model's chat template can't be rendered for this line.
        case templateError = "template_error"
        case badPrompt = "bad_prompt"
        /// The prompt leaves no room in the model's context.
        case promptTooLong = "prompt_too_long"
        /// Prompt and completion don't fit into the KV budget, even alone.
        case noRoom = "kv_budget_exceeded"
        /// A logit is infinite or NaN, as with damaged weights.
        case notFinite = "logits_not_finite"
        /// A constraint allows no token.
        case nothingAllowed = "nothing_allowed"
        /// The line's constraint is invalid, such as a malformed schema.
        case badSchema = "bad_schema"
        /// No answer that satisfies the constraint has so few tokens.
        case maxTokensTooSmall = "max_tokens_too_small"
        /// No attempt satisfied the constraint.
        case invalidAnswer = "invalid_answer"
    }

    public var code: Code
    public var message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}
