import Constraints
import JSON

/// A rule on answers, as a job or a line asks for it. Each kind of rule is a type in a file of its own, and a line in
/// `AnswerRules.all`.
protocol AnswerRule: Sendable {
    /// The setting that asks for it, in jobs and lines.
    static var name: String { get }
    /// What a line's value must be, for messages.
    static var right: String { get }
    /// Whether a line's field of that name asks for the rule. If not, it is a field like any other.
    static func isAsked(by field: JSONValue) -> Bool
    /// - Parameter field: the value in a line, which asks for the rule.
    /// - Returns: nil if it is none of those that are right.
    init?(field: JSONValue)

    /// With `text` it says all: rules are equal if both are.
    var kind: String { get }
    var text: String { get }
    /// Short, distinct for distinct rules: for the fingerprint of a run.
    var fingerprint: String { get }
    /// Looks at what it says.
    /// - Throws: `AnswerFault` for what can't be a rule. Whether it has any answers shows when it is compiled.
    func checked() throws(AnswerFault) -> any CheckedRule
}

enum AnswerRules {
    static let all: [any AnswerRule.Type] = [SchemaRule.self, RegexRule.self, GrammarRule.self]

    /// The rule that a setting asks for; nil if it is none.
    static func named(_ setting: String) -> (any AnswerRule.Type)? { all.first { $0.name == setting } }
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
    /// What is wrong with a finished answer, in a part of a sentence; nil if nothing is.
    func problem(with answer: String) -> String?
}

extension CheckedRule {
    var warnings: [String] { [] }

    /// - Throws: `AnswerFault` if nothing can be generated so.
    func grammar(
        _ layout: AnswerGrammar.Layout, _ tokens: TokenTrie, _ effort: CompileEffort = CompileEffort()
    ) throws(AnswerFault) -> AnswerGrammar {
        do throws(ConstraintFault) { return try compiled(layout, tokens, effort) } catch {
            throw AnswerFault(error)
        }
    }
}

extension AnswerFault {
    init(_ fault: ConstraintFault) {
        self.init(fault.description + (fault.problem.hasSuffix(".") ? "" : "."))
    }
}
