import JSON
import Regex
import TokenConstraints

extension AnswerKey {
    static let regex = AnswerKey(
        name: "regex", placeholder: "TEXT",
        help:
            "a regular expression (ECMA-262, lookahead at its beginning only) that matches answers as a whole",
        right: "a string, which is a regular expression"
    ) { value in
        if case .string(let pattern) = value { .regex(pattern) } else { nil }
    }
}

extension AnswerFormat {
    /// Texts that a regular expression matches as a whole.
    static func regex(_ pattern: String) -> AnswerFormat {
        AnswerFormat("regex", pattern, fingerprint: ResultText.list([pattern])) { _ throws(SettingProblem) in
            let whole: ECMARegex
            do throws(ConstraintFault) { whole = try ECMARegex(pattern, isWhole: true) } catch {
                throw SettingProblem("The regular expression has \(error.description).")
            }
            return CheckedRule { answer in
                var budget = RegexLimits.visits
                switch whole.matches(answer, budget: &budget) {
                case true?: return nil
                case false?: return "the regular expression doesn't match it"
                case nil: return "matching it with the regular expression takes too long"
                }
            } compiled: { _, tokens throws(ConstraintFault) in
                try AnswerGrammar(regex: whole.pattern, tokens: tokens)
            }
        }
    }
}
