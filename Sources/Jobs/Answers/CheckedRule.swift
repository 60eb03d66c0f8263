import JSON
import TokenConstraints

/// A checked rule: it can be compiled to masks, and can judge finished answers. Safe to use from several threads.
final class CheckedRule: Sendable {
    /// Choice between calls and text, if it is about tools.
    let callChoice: CallGrammar.Choice?
    /// Rule on answers without calls; nil for any text.
    let beside: CheckedRule?
    /// Returns the name of a place of the compiled schema in messages.
    let place: @Sendable (String) -> String
    typealias Compilation =
        @Sendable (AnswerGrammar.Layout, TokenTrie) throws(ConstraintFault) -> AnswerGrammar
    /// - Throws: `ConstraintFault` if it can't be generated.
    let compiled: Compilation
    /// Returns warnings about probable mistakes.
    let warnings: @Sendable () -> [String]
    private let fault: @Sendable (String) -> String?

    /// - Parameter problem: returns the problem with a finished answer, as part of a sentence; nil if there is none.
    init(
        calling callChoice: CallGrammar.Choice? = nil, beside: CheckedRule? = nil,
        place: @escaping @Sendable (String) -> String = { $0 },
        warnings: @escaping @Sendable () -> [String] = { [] },
        problem: @escaping @Sendable (String) -> String?, compiled: @escaping Compilation
    ) {
        (self.callChoice, self.beside, self.place) = (callChoice, beside, place)
        (self.warnings, fault, self.compiled) = (warnings, problem, compiled)
    }

    /// Returns the problem with a finished answer, as part of a sentence; nil if there is none.
    func problem(with answer: String) -> String? { fault(answer) }

    /// - Throws: `SettingProblem` if it can't be generated.
    func grammar(
        _ layout: AnswerGrammar.Layout, _ tokens: TokenTrie
    ) throws(SettingProblem) -> AnswerGrammar {
        do throws(ConstraintFault) { return try compiled(layout, tokens) } catch {
            throw SettingProblem(ConstraintFault(error.kind, at: error.pointer.map(place), error.problem))
        }
    }
}

extension SettingProblem {
    init(_ fault: ConstraintFault) {
        self.init(fault.description + (fault.problem.hasSuffix(".") ? "" : "."))
    }
}
