/// Why a line gets no completion. It becomes the line's result, and the job goes on.
public struct LineError: Error, Equatable, Sendable {
    public enum Code: String, Sendable, CaseIterable {
        case invalidUTF8 = "invalid_utf8"
        case invalidJSON = "invalid_json"
        case lineTooLong = "line_too_long"
        case badField = "bad_field"
        case duplicateID = "duplicate_id"
        /// The line carries the error of an earlier step.
        case earlierError = "earlier_error"
        case missingPrompt = "missing_prompt"
        /// The prompt is nothing but white space.
        case emptyPrompt = "empty_prompt"
        /// A template of the job or the model's chat template can't be filled from this line.
        case templateError = "template_error"
        case badPrompt = "bad_prompt"
        /// The prompt leaves no room in the model's context.
        case promptTooLong = "prompt_too_long"
        /// The prompt and its completion would not fit into the KV budget, even alone.
        case noRoom = "kv_budget_exceeded"
        /// A logit came out infinite or NaN, so that there is no likeliest token: damaged weights make such.
        case notFinite = "logits_not_finite"
        /// A constraint leaves no token to choose.
        case nothingAllowed = "nothing_allowed"
        /// What the line says its answer must be like can't be: a schema that is malformed, say.
        case badSchema = "bad_schema"
        /// No answer of the form that is asked for has so few tokens.
        case maxTokensTooSmall = "max_tokens_too_small"
        /// No answer was what is asked for, however often it was generated.
        case invalidAnswer = "invalid_answer"
    }

    public var code: Code
    public var message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}
