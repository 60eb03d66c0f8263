import OperatingSystem

/// One constraint for a vocabulary, compiled on demand. Safe to use from several threads.
package final class AnswerCompilation: Sendable {
    fileprivate let id: [UInt8]
    fileprivate let layout: AnswerGrammar.Layout
    /// Bytes of the constraint's text, which mostly predict the time to compile it.
    package let size: Int
    private let compiled: Lazy<Result<CompiledAnswer, ConstraintFault>>
    /// Waiters are nil until somebody asks to have it compiled.
    private let state = Mutex((isReady: false, waiters: [@Sendable () -> Void]?.none))

    fileprivate init(
        _ id: [UInt8], _ layout: AnswerGrammar.Layout, size: Int,
        _ compile: @escaping @Sendable () throws(ConstraintFault) -> CompiledAnswer
    ) {
        (self.id, self.layout, self.size) = (id, layout, size)
        compiled = Lazy { Result(catching: compile) }
    }

    package var isReady: Bool { state.withLock { $0.isReady } }

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
}

/// Compiles constraints for one vocabulary, each once for all that share it. Safe to use from several threads.
///
/// Lines may have constraints that take long to compile, so this happens on threads, small ones first, while other
/// lines go on. Results don't depend on it.
package final class AnswerGrammars: Sendable {
    /// Number of cached constraints, as each line may have its own.
    private static let keptCount = 64
    /// Number of threads that compile.
    private static let threadCount = 2

    package let mark: (text: String, tokens: [Int32])?
    private let tokens: Lazy<Result<TokenTrie, ConstraintFault>>
    /// The constraints last used, in that order, those to compile, and the number of threads that do so.
    private let state = Mutex((kept: [AnswerCompilation](), waiting: [AnswerCompilation](), threads: 0))

    /// - Parameters:
    ///   - mark: text before calls of tools, and its tokens; nil if the model can't call any.
    ///   - tokens: makes the vocabulary for the first constraint.
    package init(
        calls mark: (text: String, tokens: [Int32])?,
        _ tokens: @escaping @Sendable () throws(ConstraintFault) -> TokenTrie
    ) {
        self.mark = mark
        self.tokens = Lazy { Result(catching: tokens) }
    }

    /// - Parameters:
    ///   - id: identifies the constraint.
    ///   - size: bytes of its text.
    package func compilation(
        of id: [UInt8], _ layout: AnswerGrammar.Layout, size: Int,
        _ compile: @escaping @Sendable (TokenTrie) throws(ConstraintFault) -> CompiledAnswer
    ) -> AnswerCompilation {
        state.withLock { state in
            let known = state.kept.lastIndex { $0.id == id && $0.layout == layout }
            let one =
                known.map { state.kept.remove(at: $0) }
                ?? AnswerCompilation(id, layout, size: size) { [tokens] () throws(ConstraintFault) in
                    try compile(tokens.value.get())
                }
            state.kept.append(one)
            if state.kept.count > Self.keptCount { state.kept.removeFirst() }
            return one
        }
    }

    /// Starts compiling one of its constraints if needed.
    /// - Parameter waiter: notified when it is compiled.
    package func begin(_ one: AnswerCompilation, for waiter: @escaping @Sendable () -> Void) {
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
