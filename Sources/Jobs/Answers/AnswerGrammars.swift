import BatchEngine
import OperatingSystem
import PhiText
import TokenConstraints

/// One constraint for a model, compiled on demand. Safe to use from several threads.
package final class AnswerCompilation: Sendable {
    let form: AnswerFormat
    fileprivate let layout: AnswerGrammar.Layout
    private let compiled: Lazy<Result<CompiledAnswer, ConstraintFault>>
    /// Waiters are nil until somebody asks to have it compiled.
    private let state = Mutex((isReady: false, waiters: [@Sendable () -> Void]?.none))

    fileprivate init(
        _ form: AnswerFormat, _ layout: AnswerGrammar.Layout,
        _ compile: @escaping @Sendable () throws(ConstraintFault) -> CompiledAnswer
    ) {
        (self.form, self.layout) = (form, layout)
        compiled = Lazy { Result(catching: compile) }
    }

    /// Bytes of the constraint's text, which mostly predict the time to compile it.
    var size: Int { form.text.utf8.count }

    var isReady: Bool { state.withLock { $0.isReady } }

    /// - Parameter waiter: called once it is compiled; must not block.
    /// - Returns: whether the caller must have it compiled now, as the first one to ask.
    fileprivate func add(_ waiter: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            if state.isReady { return false }
            defer { state.waiters = (state.waiters ?? []) + [waiter] }
            return state.waiters == nil
        }
    }

    /// Returns the result; compiles it if nobody has begun, else waits.
    /// - Throws: `ConstraintFault`, always the same for the same constraint.
    package func value() throws(ConstraintFault) -> CompiledAnswer {
        let result = compiled.value
        let waiters = state.withLock { state in
            defer { state = (true, nil) }
            return state.waiters ?? []
        }
        for wake in waiters { wake() }
        return try result.get()
    }

    /// Returns the result for a line.
    /// - Parameter maxTokens: of the answer, by all limits.
    /// - Throws: `LineError` if no answer meets it.
    package func value(maxTokens: Int) throws(LineError) -> CompiledAnswer {
        let compiled: CompiledAnswer
        do throws(ConstraintFault) { compiled = try value() } catch {
            throw LineError(.badSchema, "The constraint of the answer can't be used: \(error.sentence)")
        }
        let least = compiled.leastTokens
        guard least <= maxTokens else {
            throw LineError(
                .maxTokensTooSmall,
                "The answer may have \(maxTokens) tokens (max_tokens, or what the context leaves), but its constraint needs at least \(least)."
            )
        }
        return compiled
    }
}

/// Compiles constraints for one model, each once for all jobs and lines. Safe to use from several threads.
///
/// Lines may have constraints that take long to compile, so this happens on threads, small ones first, while other
/// lines go on. Results don't depend on it.
package final class AnswerGrammars: Sendable {
    /// Number of cached constraints, as each line may have its own.
    static let keptCount = 64
    /// Number of threads that compile.
    static let threadCount = 2

    private let tokens: Lazy<Result<TokenTrie, ConstraintFault>>
    private let tools: ToolText?
    /// The constraints last used, in that order, those to compile, and the number of threads that do so.
    private let state = Mutex((kept: [AnswerCompilation](), waiting: [AnswerCompilation](), threads: 0))

    package init(text: any TextCoding, limits: ModelLimits) {
        tools = text.tools
        tokens = Lazy {
            guard let texts = text.tokenTexts else {
                return .failure(
                    ConstraintFault(
                        .unusable, "The model has no tokenizer, so answers can't be constrained"))
            }
            return .success(
                TokenTrie(
                    texts, count: limits.vocabularySize, endOfSequence: limits.endOfSequence.sorted()))
        }
    }

    package func compilation(_ form: AnswerFormat, _ layout: AnswerGrammar.Layout) -> AnswerCompilation {
        state.withLock { state in
            let known = state.kept.lastIndex { $0.form == form && $0.layout == layout }
            let one =
                known.map { state.kept.remove(at: $0) }
                ?? AnswerCompilation(form, layout) { [tokens, tools] () throws(ConstraintFault) in
                    let (rule, tokens) = (try form.checked(), try tokens.value.get())
                    guard let called = form.tools else { return try CompiledAnswer(rule, layout, tokens) }
                    guard let tools else {
                        throw ConstraintFault(
                            .unusable, "The model has no tokenizer, so tools can't be called")
                    }
                    let mark = (text: tools.opening, tokens: tools.openingTokens)
                    return try CompiledAnswer(
                        rule, layout, tokens, calls: (called.choice, mark, called.answer?.checked()))
                }
            state.kept.append(one)
            if state.kept.count > Self.keptCount { state.kept.removeFirst() }
            return one
        }
    }

    /// Starts compiling one of its constraints if needed.
    /// - Parameter waiter: notified when it is compiled.
    func begin(_ one: AnswerCompilation, for waiter: @escaping @Sendable () -> Void) {
        guard one.add(waiter) else { return }
        let startsThread = state.withLock { state in
            state.waiting.append(one)
            guard state.threads < Self.threadCount else { return false }
            state.threads += 1
            return true
        }
        guard startsThread else { return }
        do throws(SystemError) {
            try WorkerThread.start("forms", givesWay: true) { self.work() }
        } catch {
            // Without a thread, on the caller's.
            work()
        }
    }

    private func work() {
        while let one = next() { _ = try? one.value() }
    }

    private func next() -> AnswerCompilation? {
        state.withLock { state in
            let place = state.waiting.indices.min { state.waiting[$0].size < state.waiting[$1].size }
            if place == nil { state.threads -= 1 }
            return place.map { state.waiting.remove(at: $0) }
        }
    }
}

extension TokenTrie {
    /// - Parameter count: number of the model's logits, which may exceed the tokens.
    package convenience init(_ texts: TokenTexts, count: Int, endOfSequence: [Int32]) {
        var bytes = Array(texts.bytes.prefix(count))
        bytes += Array(repeating: nil, count: count - bytes.count)
        // A token that ends an answer is no part of its text.
        for id in endOfSequence where bytes.indices.contains(Int(id)) { bytes[Int(id)] = nil }
        self.init(
            texts: bytes, endOfSequence: endOfSequence.filter { $0 >= 0 && $0 < count },
            dropsFirstSpace: texts.dropsFirstSpace, encode: texts.encode)
    }
}
