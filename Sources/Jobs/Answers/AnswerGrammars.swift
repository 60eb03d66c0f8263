import BatchEngine
import OperatingSystem
import PhiText
import TokenConstraints

/// Compiles constraints for one model, each once for all jobs and lines. Safe to use from several threads.
///
/// Lines may have constraints that take long to compile, so this happens on threads, small ones first, while other
/// lines go on. Results don't depend on it.
package final class AnswerGrammars: Sendable {
    private struct Key: Hashable {
        var form: [UInt8]
        var layout: AnswerGrammar.Layout
    }

    private struct KnownGrammars {
        var kept: [Key: (form: AnswerCompilation, used: Int)] = [:]
        var uses = 0
        var waiting: [AnswerCompilation] = []
        var threads = 0
    }

    /// Number of cached constraints, as each line may have its own.
    static let keptCount = 64
    /// Number of threads that compile.
    static let threadCount = 2

    private let tokens: Lazy<Result<TokenTrie, SettingProblem>>
    private let tools: ToolText?
    private let state = Mutex(KnownGrammars())

    package init(text: any TextCoding, limits: ModelLimits) {
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

    /// Starts compiling one of its constraints if needed.
    /// - Parameter waiter: notified when it is compiled.
    func begin(_ one: AnswerCompilation, for waiter: @escaping @Sendable () -> Void) {
        if one.add(waiter) { enqueue(one) }
    }

    package func compilation(_ form: AnswerFormat, _ layout: AnswerGrammar.Layout) -> AnswerCompilation {
        let key = Key(form: form.digest, layout: layout)
        return state.withLock { state in
            state.uses += 1
            if let known = state.kept[key] {
                state.kept[key]?.used = state.uses
                return known.form
            }
            if state.kept.count >= Self.keptCount,
                let oldest = state.kept.min(by: { $0.value.used < $1.value.used })?.key
            {
                state.kept[oldest] = nil
            }
            let one = AnswerCompilation(size: form.text.utf8.count) {
                [tokens, tools] () throws(SettingProblem) in
                try CompiledAnswer(form, layout, tokens, tools)
            }
            state.kept[key] = (one, state.uses)
            return one
        }
    }

    private func enqueue(_ one: AnswerCompilation) {
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
        while let one = next() { one.run() }
    }

    private func next() -> AnswerCompilation? {
        state.withLock { state in
            guard
                let place = state.waiting.indices.min(by: { state.waiting[$0].size < state.waiting[$1].size })
            else {
                state.threads -= 1
                return nil
            }
            return state.waiting.remove(at: place)
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
