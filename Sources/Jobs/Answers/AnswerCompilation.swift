import BatchEngine
import JSONSchema
import OperatingSystem
import PhiText
import TokenConstraints

/// A compiled constraint.
package struct CompiledAnswer: Sendable {
    let rule: CheckedRule
    package let grammar: AnswerGrammar
    /// Calls after text, or one of both, if the rule is about tools.
    var calls: CallGrammar?

    /// - Throws: `SettingProblem` if no answer meets it.
    init(
        _ form: AnswerFormat, _ layout: AnswerGrammar.Layout,
        _ tokens: Lazy<Result<TokenTrie, SettingProblem>>, _ tools: ToolText?
    ) throws(SettingProblem) {
        rule = try form.checked(tools?.syntax ?? .list)
        let tokens = try tokens.value.get()
        grammar = try rule.grammar(layout, tokens)
        guard let choice = rule.callChoice else { return }
        guard let tools else {
            throw SettingProblem("The model has no tokenizer, so tools can't be called.")
        }
        let mark = (text: tools.opening, tokens: tools.openingTokens)
        let answer = try rule.beside?.grammar(layout, tokens)
        calls = CallGrammar(grammar, choice, after: mark, beside: answer)
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

    var leastTokens: Int { calls?.leastTokens ?? grammar.leastTokens }

    func constraint(maxTokens: Int) -> any Constraint {
        calls?.constraint(maxTokens: maxTokens) ?? grammar.constraint(maxTokens: maxTokens)
    }
}

/// One constraint, compiled on demand. Safe to use from several threads.
package final class AnswerCompilation: Sendable {
    private enum Progress {
        case idle, asked, running
        case done(Result<CompiledAnswer, SettingProblem>)
    }

    /// Bytes of the constraint's text, which mostly predict the time to compile it.
    let size: Int
    private let compiled: @Sendable () throws(SettingProblem) -> CompiledAnswer
    private let state = Condition((progress: Progress.idle, waiters: [@Sendable () -> Void]()))

    init(size: Int, compiled: @escaping @Sendable () throws(SettingProblem) -> CompiledAnswer) {
        (self.size, self.compiled) = (size, compiled)
    }

    var isReady: Bool { state.withLock { if case .done = $0.progress { true } else { false } } }

    /// - Parameter waiter: called once it is compiled; must not block.
    /// - Returns: whether the caller must have it compiled now, as the first one to ask.
    func add(_ waiter: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            if case .done = state.progress { return false }
            state.waiters.append(waiter)
            guard case .idle = state.progress else { return false }
            state.progress = .asked
            return true
        }
    }

    /// Returns the result; compiles it if nobody has begun, else waits.
    /// - Throws: `SettingProblem`, always the same for the same constraint.
    package func value() throws(SettingProblem) -> CompiledAnswer {
        run()
        return try state.wait { if case .done(let result) = $0.progress { result } else { nil } }.get()
    }

    /// Compiles it, if nobody has begun.
    func run() {
        let isFirst = state.withLock { state in
            switch state.progress {
            case .running, .done: return false
            case .idle, .asked:
                state.progress = .running
                return true
            }
        }
        guard isFirst else { return }
        let result = Result(catching: compiled)
        let waiters = state.change { state in
            defer { state = (.done(result), []) }
            return state.waiters
        }
        for wake in waiters { wake() }
    }
}
