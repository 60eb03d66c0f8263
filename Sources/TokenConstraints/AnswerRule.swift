import BatchEngine
import JSON
import JSONSchema
import Regex

/// A checked constraint on answers: it can be compiled to masks, and judges finished answers. Safe to use from several
/// threads.
package struct AnswerRule: Sendable {
    package typealias Compilation =
        @Sendable (AnswerGrammar.Layout, TokenTrie) throws(ConstraintFault) -> AnswerGrammar

    /// - Throws: `ConstraintFault` if it can't be generated.
    package let grammar: Compilation
    /// Returns warnings about probable mistakes.
    package let warnings: @Sendable () -> [String]
    /// Returns the name of a place of the compiled schema in messages.
    package let place: @Sendable (_ pointer: String) -> String
    private let judge: @Sendable (_ answer: String) -> String?

    /// - Parameter problem: returns the problem with a finished answer, as part of a sentence; nil if there is none.
    package init(
        place: @escaping @Sendable (String) -> String = { $0 },
        warnings: @escaping @Sendable () -> [String] = { [] },
        problem: @escaping @Sendable (String) -> String?, grammar: @escaping Compilation
    ) {
        (self.place, self.warnings, judge, self.grammar) = (place, warnings, problem, grammar)
    }

    /// Returns the problem with a finished answer, as part of a sentence; nil if there is none.
    package func problem(with answer: String) -> String? { judge(answer) }

    /// JSON that a schema accepts.
    /// - Throws: `ConstraintFault` if it is no schema, or has an unknown keyword.
    package init(schema: JSONValue) throws(ConstraintFault) {
        let schema = try Schema(schema, readsNullable: true)
        if let fault = schema.unknownKeyword { throw fault }
        let warnings = { @Sendable in
            schema.unknownFormats.map {
                "\($0.pointer): the format \($0.name.prefix(64)) is not known, and not checked."
            }
                + schema.ignoredKeywords.map { "\($0.pointer): \($0.name.prefix(64)) has no effect there." }
                + schema.notesOnAnnotations
        }
        self.init(warnings: warnings) { answer in
            let value: JSONValue
            do throws(JSONFault) { value = try JSONValue(parsing: Array(answer.utf8), limits: .line) } catch {
                return "it is not JSON: \(error.atByte)"
            }
            // Most are valid, which is faster to check.
            if schema.accepts(value, assertsFormats: true) { return nil }
            let violations = schema.violations(of: value, assertsFormats: true)
            guard let first = violations.first else { return nil }
            let more = violations.count > 1 ? ", and \(violations.count - 1) more" : ""
            return "\(first.text.text) (\(first.schema))\(more)"
        } grammar: { layout, tokens throws(ConstraintFault) in
            try AnswerGrammar(schema, layout: layout, tokens: tokens)
        }
    }

    /// Texts that a regular expression of ECMA-262 matches as a whole.
    package init(regex: String) throws(ConstraintFault) {
        let whole: ECMARegex
        do throws(ConstraintFault) { whole = try ECMARegex(regex, isWhole: true) } catch {
            throw ConstraintFault(error.kind, "The regular expression has \(error)")
        }
        self.init { answer in
            var budget = RegexLimits.visits
            switch whole.matches(answer, budget: &budget) {
            case true?: return nil
            case false?: return "the regular expression doesn't match it"
            case nil: return "matching it with the regular expression takes too long"
            }
        } grammar: { _, tokens throws(ConstraintFault) in
            try AnswerGrammar(regex: whole.pattern, tokens: tokens)
        }
    }

    /// Texts of a context-free grammar in GBNF.
    package init(grammar text: String) throws(ConstraintFault) {
        let source = try GrammarSource(text)
        let matcher = GrammarMatcher(source)
        self.init { answer in
            do throws(ConstraintFault) {
                switch try matcher.verdict(on: answer.utf8) {
                case .isText: return nil
                case .unfinished: return "by the grammar, more would have to follow"
                case .wrong(let byte):
                    let before = String(decoding: answer.utf8.prefix(byte), as: UTF8.self)
                    return "the grammar doesn't allow its character \(before.unicodeScalars.count + 1)"
                case .tooCostly: return "reading it by the grammar takes too long"
                }
            } catch {
                return "the grammar can't be used: \(error)"
            }
        } grammar: { _, tokens throws(ConstraintFault) in
            try AnswerGrammar(source, tokens: tokens)
        }
    }
}

/// A compiled constraint, of which calls of tools may be a part.
package struct CompiledAnswer: Sendable {
    /// A choice between calls, and an answer in words that may have a rule of its own.
    package typealias Calls = (
        choice: CallGrammar.Choice, mark: (text: String, tokens: [Int32]), beside: AnswerRule?
    )

    package let rule: AnswerRule
    package let grammar: AnswerGrammar
    /// The rule on answers without calls; nil for any text, or if the constraint is about no calls.
    package let beside: AnswerRule?
    /// Calls after text, or one of both.
    private var calls: CallGrammar?

    /// - Parameter calls: nil if the rule is not about calls.
    /// - Throws: `ConstraintFault` if no answer meets it.
    package init(
        _ rule: AnswerRule, _ layout: AnswerGrammar.Layout, _ tokens: TokenTrie, calls: Calls? = nil
    ) throws(ConstraintFault) {
        (self.rule, beside) = (rule, calls?.beside)
        grammar = try rule.grammar(layout, tokens)
        guard let calls else { return }
        let answer = try beside?.grammar(layout, tokens)
        self.calls = CallGrammar(grammar, calls.choice, after: calls.mark, beside: answer)
    }

    /// Grammars of the constraint; that of an answer in words first, if there are calls beside it.
    package var grammars: [AnswerGrammar] { [calls?.answer, grammar].compactMap { $0 } }
    /// Places that masks can't enforce, and objects that may have further members.
    package var validated: [String] { places(\.validated) }
    package var openObjects: [String] { places(\.openObjects) }

    private func places(_ mentions: KeyPath<AnswerGrammar, [SchemaMention]>) -> [String] {
        (calls?.answer?[keyPath: mentions] ?? []).map(\.pointer)
            + grammar[keyPath: mentions].map { rule.place($0.pointer) }
    }

    package var leastTokens: Int { calls?.leastTokens ?? grammar.leastTokens }

    package func constraint(maxTokens: Int) -> any Constraint {
        calls?.constraint(maxTokens: maxTokens) ?? grammar.constraint(maxTokens: maxTokens)
    }
}
