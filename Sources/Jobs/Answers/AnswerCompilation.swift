import BatchEngine
import JSONSchema
import OperatingSystem
import PhiText
import TokenConstraints

/// A form of answers that is ready to be generated.
package struct CompiledAnswer: Sendable {
    let rule: any CheckedRule
    package let grammar: AnswerGrammar
    /// The text and the calls after it, or one of both, where the rule is of such.
    var calls: CallGrammar?

    /// The grammars of what is asked for; that of an answer in words first, where calls are beside it.
    package var grammars: [AnswerGrammar] { [calls?.answer, grammar].compactMap { $0 } }
    /// What masks don't decide, and objects that may have members of any name.
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

/// One form that is compiled, once somebody asks for it. May be used from several threads.
package final class AnswerCompilation: Sendable {
    /// Somebody who asks whether it is there, and doesn't wait for it.
    struct Waiter: Sendable {
        /// Whether it is of no use to them any more. Takes no lock.
        let isGone: @Sendable () -> Bool
        /// Called once it is there.
        let wake: @Sendable () -> Void
    }

    private enum Progress {
        case idle
        case running
        case done(Result<CompiledAnswer, AnswerFault>)
    }

    private struct State {
        var progress = Progress.idle
        var isAsked = false
        var waiters: [Waiter] = []
        /// Callers of `value` who wait.
        var blocked = 0

        var isUnwanted: Bool { blocked == 0 && waiters.allSatisfy { $0.isGone() } }

        /// - Returns: whether the caller has to do it now.
        mutating func begin() -> Bool {
            guard case .idle = progress else { return false }
            progress = .running
            return true
        }
    }

    /// Bytes of what the form says. As a rule, what takes longest has many.
    let size: Int
    private let form: AnswerForm
    private let layout: AnswerGrammar.Layout
    private let compiler: AnswerCompiler
    private let state = Monitor(State())

    init(_ form: AnswerForm, _ layout: AnswerGrammar.Layout, by compiler: AnswerCompiler) {
        size = form.text.utf8.count
        self.form = form
        self.layout = layout
        self.compiler = compiler
    }

    var isReady: Bool { state.withLock { if case .done = $0.progress { true } else { false } } }

    /// - Returns: whether somebody must see to it now, as nobody was asked to before.
    func add(_ waiter: Waiter) -> Bool {
        state.withLock { state in
            if case .done = state.progress { return false }
            state.waiters.append(waiter)
            defer { state.isAsked = true }
            return !state.isAsked
        }
    }

    /// Waits for it; does it, if nobody has begun.
    /// - Throws: `AnswerFault`, each time the same for the same form.
    package func value() throws(AnswerFault) -> CompiledAnswer {
        state.withLock { $0.blocked += 1 }
        defer { state.withLock { $0.blocked -= 1 } }
        while true {
            let result = state.wait { state -> Result<CompiledAnswer, AnswerFault>?? in
                if case .done(let result) = state.progress { return .some(result) }
                return state.begin() ? .some(nil) : nil
            }
            if let result { return try result.get() }
            compile()
        }
    }

    /// Does it, if nobody has begun.
    func run() {
        if state.withLock({ $0.begin() }) { compile() }
    }

    /// By the one who began.
    private func compile() {
        var woken: [Waiter]?
        // Somebody may have come who wants it after all.
        while woken == nil { woken = tryToCompile() }
        for waiter in woken ?? [] { waiter.wake() }
    }

    /// - Returns: who is to be told that it is there, or that it was given up; nil if it was given up and is wanted.
    private func tryToCompile() -> [Waiter]? {
        let effort = CompileEffort { [state] in state.withLock { $0.isUnwanted } }
        let result = Result { () throws(AnswerFault) in try compiler.compiled(form, layout, effort) }
        let isDone = !effort.isCancelled
        return state.change { state in
            guard isDone || state.isUnwanted else { return nil }
            // Given up: who comes after this has it done anew.
            state.progress = isDone ? .done(result) : .idle
            state.isAsked = false
            defer { state.waiters = [] }
            return state.waiters
        }
    }
}

/// What forms are compiled for: a model's tokens. May be used from several threads.
final class AnswerCompiler: Sendable {
    private let tokens: OnFirstUse<Result<TokenTrie, AnswerFault>>
    private let tools: ToolText?

    init(text: any TextCoding, limits: ModelLimits) {
        tools = text.tools
        tokens = OnFirstUse {
            guard let texts = text.tokenTexts else {
                return .failure(
                    AnswerFault("The model has no tokenizer by which answers could be given a form."))
            }
            return .success(
                TokenTrie(
                    texts, count: limits.vocabularySize, endOfSequence: limits.endOfSequence.sorted()))
        }
    }

    func compiled(
        _ form: AnswerForm, _ layout: AnswerGrammar.Layout, _ effort: CompileEffort
    ) throws(AnswerFault) -> CompiledAnswer {
        let rule = try form.checked()
        let tokens = try tokens.value.get()
        let grammar = try rule.grammar(layout, tokens, effort)
        guard let choice = rule.callChoice else { return CompiledAnswer(rule: rule, grammar: grammar) }
        guard let tools else {
            throw AnswerFault("The model has no tokenizer by which calls could be written.")
        }
        let mark = CallGrammar.Mark(text: tools.opening, tokens: tools.openingTokens)
        let answer = try rule.beside?.grammar(layout, tokens, effort)
        return CompiledAnswer(
            rule: rule, grammar: grammar, calls: CallGrammar(grammar, choice, after: mark, beside: answer))
    }
}
