import OperatingSystem

/// Constraint on answers of a job or a line: a rule, or any text.
package struct AnswerFormat: Sendable, Equatable {
    /// Nil for any text, as for the type `text` of `response_format`.
    let rule: (any AnswerRule)?
    /// SHA-256 that identifies the rule.
    let digest: [UInt8]

    private init(_ rule: (any AnswerRule)?, kind: String, text: String) {
        self.rule = rule
        digest = SHA.sha256(of: "\(kind) \(text)".utf8)
    }

    init(_ rule: some AnswerRule) { self.init(rule, kind: rule.kind, text: rule.text) }

    /// Combines constraints in the order of their keys: tools may be used beside another constraint.
    static func together(_ forms: [AnswerFormat]) -> AnswerFormat? {
        guard forms.count > 1, let tools = forms.last?.rule as? ToolsRule else { return forms.first }
        return AnswerFormat(tools.beside(forms[0]))
    }

    /// Any text.
    static let text = AnswerFormat(nil, kind: "text", text: "")

    package static func == (a: Self, b: Self) -> Bool { a.digest == b.digest }

    /// Whether it is about tools, with any text beside them.
    var isOfCalls: Bool { (rule as? ToolsRule).map { $0.answer == nil } ?? false }

    /// Text of the rule; empty if its kind determines it.
    var text: String { rule?.text ?? "" }

    /// Whether it constrains answers at all.
    package var isConstraint: Bool { rule != nil }

    /// Short identification for the fingerprint.
    var fingerprint: String { rule?.fingerprint ?? "text" }

    /// Returns the fingerprint of a rule whose text may be long.
    static func fingerprint(of rule: some AnswerRule) -> String {
        let digest = AnswerFormat(rule).digest
        return "sha256 \(FileHash.hexadecimal(digest.prefix(16))), \(rule.text.utf8.count) bytes"
    }

    /// - Throws: `SettingProblem` if it is no valid rule, such as any text.
    func checked() throws(SettingProblem) -> CheckedRule {
        guard let rule else { throw SettingProblem("Any text is no constraint.") }
        return try rule.checked()
    }
}
