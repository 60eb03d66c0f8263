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
    /// A party to notify when it is compiled; its calls must not block.
    struct Waiter: Sendable {
        /// Whether they no longer need it. Takes no lock.
        let isGone: @Sendable () -> Bool
        /// Called once it is compiled.
        let wake: @Sendable () -> Void
    }

    private enum Progress {
        case idle
        case running
        case done(Result<CompiledAnswer, SettingProblem>)
    }

    private struct OpenAnswer {
        var progress = Progress.idle
        var isAsked = false
        var waiters: [Waiter] = []
        /// Number of callers blocked in `value`.
        var blocked = 0

        var isUnwanted: Bool { blocked == 0 && waiters.allSatisfy { $0.isGone() } }

        /// - Returns: whether the caller has to compile now.
        mutating func begin() -> Bool {
            guard case .idle = progress else { return false }
            progress = .running
            return true
        }
    }

    /// Bytes of the constraint's text, which mostly predict the time to compile it.
    let size: Int
    private let form: AnswerFormat
    private let layout: AnswerGrammar.Layout
    private let compiler: AnswerCompiler
    private let state = Condition(OpenAnswer())

    init(_ form: AnswerFormat, _ layout: AnswerGrammar.Layout, by compiler: AnswerCompiler) {
        size = form.text.utf8.count
        self.form = form
        self.layout = layout
        self.compiler = compiler
    }

    var isReady: Bool { state.withLock { if case .done = $0.progress { true } else { false } } }

    /// - Returns: whether the caller must have it compiled now, as the first one to ask.
    func add(_ waiter: Waiter) -> Bool {
        state.withLock { state in
            if case .done = state.progress { return false }
            state.waiters.append(waiter)
            defer { state.isAsked = true }
            return !state.isAsked
        }
    }

    /// Returns the result; compiles it if nobody has begun, else waits.
    /// - Throws: `SettingProblem`, always the same for the same constraint.
    package func value() throws(SettingProblem) -> CompiledAnswer {
        state.withLock { $0.blocked += 1 }
        defer { state.withLock { $0.blocked -= 1 } }
        while true {
            let result = state.wait { state -> Result<CompiledAnswer, SettingProblem>?? in
                if case .done(let result) = state.progress { return .some(result) }
                return state.begin() ? .some(nil) : nil
            }
            if let result { return try result.get() }
            compile()
        }
    }

    /// Compiles it, if nobody has begun.
    func run() {
        if state.withLock({ $0.begin() }) { compile() }
    }

    /// Called by the thread that began.
    private func compile() {
        var woken: [Waiter]?
        // Somebody may have asked for it after all.
        while woken == nil { woken = tryToCompile() }
        for waiter in woken ?? [] { waiter.wake() }
    }

    /// - Returns: whom to notify of the result, or of giving up; nil if it was given up but is wanted.
    private func tryToCompile() -> [Waiter]? {
        let effort = CompileEffort { [state] in state.withLock { $0.isUnwanted } }
        let result = Result { () throws(SettingProblem) in try compiler.compiled(form, layout, effort) }
        let isDone = !effort.isCancelled
        return state.change { state in
            guard isDone || state.isUnwanted else { return nil }
            // Given up: the next caller compiles it again.
            state.progress = isDone ? .done(result) : .idle
            state.isAsked = false
            defer { state.waiters = [] }
            return state.waiters
        }
    }
}

/// Compiler of constraints for a model's tokens. Safe to use from several threads.
final class AnswerCompiler: Sendable {
    private let tokens: Lazy<Result<TokenTrie, SettingProblem>>
    private let tools: ToolText?

    init(text: any TextCoding, limits: ModelLimits) {
        tools = text.tools
        tokens = Lazy {
            guard let texts = text.tokenTexts else {
                return .failure(
                    SettingProblem("The model has no tokenizer, so answers can't be constrained."))
            }
            return .success(
                TokenTrie(
                    texts, count: limits.vocabularySize, endOfSequence: limits.endOfSequence.sorted()))
        }
    }

    func compiled(
        _ form: AnswerFormat, _ layout: AnswerGrammar.Layout, _ effort: CompileEffort
    ) throws(SettingProblem) -> CompiledAnswer {
        let rule = try form.checked()
        let tokens = try tokens.value.get()
        let grammar = try rule.grammar(layout, tokens, effort)
        guard let choice = rule.callChoice else { return CompiledAnswer(rule: rule, grammar: grammar) }
        guard let tools else {
            throw SettingProblem("The model has no tokenizer, so tools can't be called.")
        }
        let mark = CallGrammar.Mark(text: tools.opening, tokens: tools.openingTokens)
        let answer = try rule.beside?.grammar(layout, tokens, effort)
        return CompiledAnswer(
            rule: rule, grammar: grammar, calls: CallGrammar(grammar, choice, after: mark, beside: answer))
    }
}
