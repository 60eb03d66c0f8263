import JSON
import TokenConstraints

/// A rule on answers, as a job or a line asks for it.
protocol AnswerRule: AnswerKey {
    /// What a value must be, for messages.
    static var right: String { get }
    /// - Parameter value: of a line or a job, which asks for the rule.
    /// - Returns: nil if it is none of those that are right.
    init?(_ value: JSONValue)

    /// With `text` it says all: rules are equal if both are.
    var kind: String { get }
    var text: String { get }
    /// Short, distinct for distinct rules: for the fingerprint of a run.
    var fingerprint: String { get }
    /// Looks at what it says.
    /// - Throws: `AnswerFault` for what can't be a rule. Whether it has any answers shows when it is compiled.
    func checked() throws(AnswerFault) -> any CheckedRule
}

extension AnswerRule {
    static func form(ofLine field: JSONValue) throws(SettingProblem) -> AnswerForm {
        guard let rule = Self(field) else { throw field.wrong(right) }
        return AnswerForm(rule)
    }

    static func form(ofJob value: JSONValue, isOption: Bool) throws(SettingProblem) -> AnswerForm? {
        if isAsked(by: value), let rule = Self(value) { return AnswerForm(rule) }
        if file == nil { throw value.wrong(right) }
        return nil
    }
}

/// A rule that has been looked at: it can be compiled to masks, and finished answers can be judged by it. May be used
/// from several threads.
protocol CheckedRule: Sendable {
    /// What goes on, but is hardly meant.
    var warnings: [String] { get }
    /// - Throws: `ConstraintFault` if nothing can be generated so.
    func compiled(
        _ layout: AnswerGrammar.Layout, _ tokens: TokenTrie, _ effort: CompileEffort
    ) throws(ConstraintFault) -> AnswerGrammar
    /// Whether it is one of calls after text, and there are any; nil, the default, if it is one of the whole answer.
    var callChoice: CallGrammar.Choice? { get }
    /// What an answer without calls must be; nil, the default, if it may be any text.
    var beside: (any CheckedRule)? { get }
    /// How a place in what is compiled is called in messages; by default as it is, as what is compiled is what was asked for.
    func place(_ pointer: String) -> String
    /// What is wrong with a finished answer, in a part of a sentence; nil if nothing is.
    func problem(with answer: String) -> String?
}

extension CheckedRule {
    var warnings: [String] { [] }
    var callChoice: CallGrammar.Choice? { nil }
    var beside: (any CheckedRule)? { nil }
    func place(_ pointer: String) -> String { pointer }

    /// - Throws: `AnswerFault` if nothing can be generated so.
    func grammar(
        _ layout: AnswerGrammar.Layout, _ tokens: TokenTrie, _ effort: CompileEffort = CompileEffort()
    ) throws(AnswerFault) -> AnswerGrammar {
        do throws(ConstraintFault) { return try compiled(layout, tokens, effort) } catch {
            throw AnswerFault(ConstraintFault(error.kind, at: error.pointer.map(place), error.problem))
        }
    }
}

extension AnswerFault {
    init(_ fault: ConstraintFault) {
        self.init(fault.description + (fault.problem.hasSuffix(".") ? "" : "."))
    }
}

/// Why answers can't be made as a job or a line asks for them.
package struct AnswerFault: Error, Equatable {
    /// A sentence or two, with a JSON pointer to the place in a schema.
    let message: String

    init(_ message: String) { self.message = message }
}
