import BatchEngine
import OperatingSystem
import PhiText
import TokenConstraints

/// Compiles forms of answers for one model, each once, whichever jobs and lines ask for it. May be used from several
/// threads.
///
/// Lines may bring forms that take long: so these are compiled on threads of their own, small ones first, while other
/// lines go on. A result doesn't depend on when that is done.
package final class AnswerGrammars: Sendable {
    private struct Key: Hashable {
        var form: [UInt8]
        var layout: AnswerGrammar.Layout
    }

    private struct State {
        var kept: [Key: (form: AnswerCompilation, used: Int)] = [:]
        var uses = 0
        var waiting: [AnswerCompilation] = []
        var threads = 0
    }

    /// Compiled forms that are kept; lines may all bring forms of their own.
    static let keptCount = 64
    /// How many are compiled at once.
    static let threadCount = 2

    private let compiler: AnswerCompiler
    private let state = Guarded(State())

    package init(text: any TextCoding, limits: ModelLimits) {
        compiler = AnswerCompiler(text: text, limits: limits)
    }

    /// Sees to it that the form gets compiled.
    /// - Parameter waiter: told when it is.
    func begin(
        _ form: AnswerForm, _ layout: AnswerGrammar.Layout, for waiter: AnswerCompilation.Waiter
    ) -> AnswerCompilation {
        let one = compilation(form, layout)
        if one.add(waiter) { enqueue(one) }
        return one
    }

    package func compilation(_ form: AnswerForm, _ layout: AnswerGrammar.Layout) -> AnswerCompilation {
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
            let one = AnswerCompilation(form, layout, by: compiler)
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
        do throws(WorkerThread.CannotStart) {
            try WorkerThread.start("forms", givesWay: true) { self.work() }
        } catch {
            // Where there can be no thread the caller does it.
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
    /// - Parameter count: how many logits the model has, which may be more than tokens.
    package convenience init(_ texts: TokenTexts, count: Int, endOfSequence: [Int32]) {
        var bytes = Array(texts.bytes.prefix(count))
        bytes += Array(repeating: nil, count: count - bytes.count)
        // What ends an answer is no part of its text.
        for id in endOfSequence where bytes.indices.contains(Int(id)) { bytes[Int(id)] = nil }
        self.init(
            texts: bytes, endOfSequence: endOfSequence.filter { $0 >= 0 && $0 < count },
            dropsFirstSpace: texts.dropsFirstSpace, encode: texts.encode)
    }
}
