import OperatingSystem

/// What answers must look like, as a job or a line asks for it: a rule, or any text.
package struct AnswerForm: Sendable, Equatable {
    /// Nil for any text: what `response_format` of the type `text` asks for.
    let rule: (any AnswerRule)?
    /// The same for the same rule, and no other: SHA-256 over it.
    let digest: [UInt8]

    private init(_ rule: (any AnswerRule)?, kind: String, text: String) {
        self.rule = rule
        digest = SHA.sha256(of: "\(kind) \(text)".utf8)
    }

    init(_ rule: some AnswerRule) { self.init(rule, kind: rule.kind, text: rule.text) }

    /// The one form of all that are asked for, in the order of their keys: functions may be called beside another form.
    static func together(_ forms: [AnswerForm]) -> AnswerForm? {
        guard forms.count > 1, let tools = forms.last?.rule as? ToolsRule else { return forms.first }
        return AnswerForm(tools.beside(forms[0]))
    }

    /// Any text.
    static let text = AnswerForm(nil, kind: "text", text: "")

    package static func == (a: Self, b: Self) -> Bool { a.digest == b.digest }

    /// Whether it is one of calls, and text beside them may be any.
    var isOfCalls: Bool { (rule as? ToolsRule).map { $0.answer == nil } ?? false }

    /// What the rule says; empty where its kind says it all.
    var text: String { rule?.text ?? "" }

    /// Whether there is anything that an answer must be.
    package var isConstraint: Bool { rule != nil }

    /// Short, distinct for distinct forms: for the fingerprint.
    var fingerprint: String { rule?.fingerprint ?? "text" }

    /// The fingerprint of a rule whose text may be long.
    static func fingerprint(of rule: some AnswerRule) -> String {
        let digest = AnswerForm(rule).digest
        return "sha256 \(FileHash.hexadecimal(digest.prefix(16))), \(rule.text.utf8.count) bytes"
    }

    /// - Throws: `AnswerFault` for what can't be a rule, any text among it.
    func checked() throws(AnswerFault) -> any CheckedRule {
        guard let rule else { throw AnswerFault("Any text is no constraint.") }
        return try rule.checked()
    }
}
