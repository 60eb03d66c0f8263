import BatchEngine
import Constraints
import OperatingSystem
import PhiText

/// A form of answers that is ready to be generated.
package struct CompiledAnswer: Sendable {
    let rule: any CheckedRule
    package let grammar: AnswerGrammar
}

/// One form that is compiled, once somebody asks for it. May be used from several threads.
package final class AnswerCompilation: @unchecked Sendable {
    /// Somebody who asks whether it is there, and doesn't wait for it.
    struct Waiter: Sendable {
        /// Whether it is of no use to them any more. Takes no lock.
        let isGone: @Sendable () -> Bool
        /// Called once it is there.
        let wake: @Sendable () -> Void
    }

    private enum State {
        case idle
        case running
        case done(Result<CompiledAnswer, AnswerFault>)
    }

    /// Bytes of what the form says. As a rule, what takes longest has many.
    let size: Int
    private let form: AnswerForm
    private let layout: AnswerGrammar.Layout
    private let compiler: AnswerCompiler
    private let condition = Condition()
    // All below is guarded by `condition`.
    private var state = State.idle
    private var isAsked = false
    private var waiters: [Waiter] = []
    /// Callers of `value` who wait.
    private var blocked = 0

    init(_ form: AnswerForm, _ layout: AnswerGrammar.Layout, by compiler: AnswerCompiler) {
        size = form.text.utf8.count
        self.form = form
        self.layout = layout
        self.compiler = compiler
    }

    var isReady: Bool {
        condition.withLock { if case .done = state { true } else { false } }
    }

    /// - Returns: whether somebody must see to it now, as nobody was asked to before.
    func add(_ waiter: Waiter) -> Bool {
        condition.withLock {
            if case .done = state { return false }
            waiters.append(waiter)
            defer { isAsked = true }
            return !isAsked
        }
    }

    /// Waits for it; does it, if nobody has begun.
    /// - Throws: `AnswerFault`, each time the same for the same form.
    package func value() throws(AnswerFault) -> CompiledAnswer {
        condition.lock()
        blocked += 1
        defer {
            blocked -= 1
            condition.unlock()
        }
        while true {
            switch state {
            case .done(let result): return try result.get()
            case .running: condition.wait()
            case .idle: compile()
            }
        }
    }

    /// Does it, if nobody has begun.
    func run() {
        condition.withLock { if case .idle = state { compile() } }
    }

    /// With the lock held, which it lets go of meanwhile.
    private func compile() {
        state = .running
        repeat {
            condition.unlock()
            let effort = CompileEffort { [unowned self] in condition.withLock { isUnwanted } }
            let result = Result { () throws(AnswerFault) in
                try compiler.compiled(form, layout, effort)
            }
            condition.lock()
            if !effort.isCancelled { state = .done(result) }
            // Somebody may have come who wants it after all.
        } while isRunning && !isUnwanted
        // Given up: who comes after this has it done anew.
        if isRunning { state = .idle }
        isAsked = false
        let woken = waiters
        waiters = []
        condition.broadcast()
        condition.unlock()
        for waiter in woken { waiter.wake() }
        condition.lock()
    }

    private var isRunning: Bool { if case .running = state { true } else { false } }

    private var isUnwanted: Bool { blocked == 0 && waiters.allSatisfy { $0.isGone() } }
}

/// What forms are compiled for: a model's tokens. May be used from several threads.
final class AnswerCompiler: @unchecked Sendable {
    private let text: any TextCoding
    private let limits: ModelLimits
    private let lock = Lock()
    /// Guarded by `lock`.
    private var trie: Result<TokenTrie, AnswerFault>?

    init(text: any TextCoding, limits: ModelLimits) {
        self.text = text
        self.limits = limits
    }

    func compiled(
        _ form: AnswerForm, _ layout: AnswerGrammar.Layout, _ effort: CompileEffort
    ) throws(AnswerFault) -> CompiledAnswer {
        let rule = try form.checked()
        return CompiledAnswer(rule: rule, grammar: try rule.grammar(layout, try tokens(), effort))
    }

    private func tokens() throws(AnswerFault) -> TokenTrie {
        let known = lock.withLock { () -> Result<TokenTrie, AnswerFault> in
            if let trie { return trie }
            let made = Result { () throws(AnswerFault) in
                guard let texts = text.tokenTexts else {
                    throw AnswerFault("The model has no tokenizer by which answers could be given a form.")
                }
                return TokenTrie(
                    texts, count: limits.vocabularySize, endOfSequence: limits.endOfSequence.sorted())
            }
            trie = made
            return made
        }
        return try known.get()
    }
}
