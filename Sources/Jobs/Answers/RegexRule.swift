import JSON
import Regex
import TokenConstraints

/// Constrains answers to texts that a regular expression matches as a whole.
struct RegexRule: AnswerRule {
    static let name = "regex"
    static let placeholder = "TEXT"
    static let help =
        "a regular expression (ECMA-262, lookahead at its beginning only) that matches answers as a whole"
    static let right = "a string, which is a regular expression"

    let text: String

    init(_ pattern: String) { text = pattern }

    init?(_ value: JSONValue) {
        guard case .string(let pattern) = value else { return nil }
        text = pattern
    }

    var kind: String { "regex" }
    var fingerprint: String { ResultText.list([text]) }

    func checked() throws(SettingProblem) -> CheckedRule {
        let whole: ECMARegex
        do throws(RegexFault) { whole = try ECMARegex(text, isWhole: true) } catch {
            throw SettingProblem("The regular expression has \(error.description).")
        }
        return CheckedRule { answer in
            var budget = RegexLimits.visits
            switch whole.matches(answer, budget: &budget) {
            case true?: return nil
            case false?: return "the regular expression doesn't match it"
            case nil: return "matching it with the regular expression takes too long"
            }
        } compiled: { _, tokens, effort throws(ConstraintFault) in
            try AnswerGrammar(regex: whole.pattern, tokens: tokens, effort: effort)
        }
    }
}

extension AnswerRule where Self == RegexRule {
    /// The rule of a regular expression that matches the whole answer.
    static func regex(_ pattern: String) -> RegexRule { RegexRule(pattern) }
}
