import JSON
import OperatingSystem
import PhiText

/// Constraint on answers of a job or a line, or any text.
package final class AnswerFormat: Sendable, Equatable {
    /// Text of the constraint; empty if its kind determines it.
    let text: String
    /// SHA-256 of kind and text, which identify it.
    let digest: [UInt8]
    /// Short identification for a run's fingerprint.
    let fingerprint: String
    /// The JSON Schema that answers follow, if it is one.
    let schema: JSONValue?
    /// The tools that answers may call, if it is about tools.
    let tools: ToolsRule?
    private let check: (@Sendable (CallSyntax) throws(SettingProblem) -> CheckedRule)?

    /// - Parameters:
    ///   - fingerprint: by default the digest, as the text may be long.
    ///   - check: parses and checks the constraint; nil for any text. Compiling it shows whether any answer meets it.
    init(
        _ kind: String, _ text: String = "", fingerprint: String? = nil, schema: JSONValue? = nil,
        tools: ToolsRule? = nil,
        check: (@Sendable (CallSyntax) throws(SettingProblem) -> CheckedRule)?
    ) {
        (self.text, self.schema, self.tools, self.check) = (text, schema, tools, check)
        digest = SHA.sha256(of: "\(kind) \(text)".utf8)
        self.fingerprint =
            fingerprint ?? "sha256 \(FileHash.hexadecimal(digest.prefix(16))), \(text.utf8.count) bytes"
    }

    /// Any text, as for the type `text` of `response_format`.
    static let anyText = AnswerFormat("text", fingerprint: "text", check: nil)

    /// Combines constraints in the order of their keys: tools may be used beside another constraint.
    static func together(_ forms: [AnswerFormat]) -> AnswerFormat? {
        guard forms.count > 1, let tools = forms.last?.tools else { return forms.first }
        return tools.beside(forms[0]).form
    }

    package static func == (a: AnswerFormat, b: AnswerFormat) -> Bool { a.digest == b.digest }

    /// Whether it is about tools, with any text beside them.
    var isOfCalls: Bool { tools.map { $0.answer == nil } ?? false }

    /// Whether it constrains answers at all.
    package var isConstraint: Bool { check != nil }

    /// - Parameter calls: the model's syntax of calls.
    /// - Throws: `SettingProblem` if it is invalid, such as any text.
    func checked(_ calls: CallSyntax = .list) throws(SettingProblem) -> CheckedRule {
        guard let check else { throw SettingProblem("Any text is no constraint.") }
        return try check(calls)
    }
}
