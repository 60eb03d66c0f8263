import BatchEngine
import Constraints
import Foundations
import PhiModel

/// Compiles forms of answers for one model, each once, whichever jobs and lines ask for it. May be used from several
/// threads.
package final class AnswerGrammars: @unchecked Sendable {
    /// A form that is ready to be generated.
    struct Compiled: Sendable {
        let rules: AnswerRules
        let grammar: AnswerGrammar
    }

    private struct Key: Hashable {
        var form: [UInt8]
        var layout: AnswerGrammar.Layout
    }

    /// Compiled forms that are kept; lines may all bring forms of their own.
    static let keptCount = 64

    private let text: any TextCoding
    private let limits: ModelLimits
    private let lock = Lock()
    // Guarded by `lock`.
    private var trie: Result<TokenTrie, AnswerFault>?
    private var kept: [Key: (result: Result<Compiled, AnswerFault>, used: Int)] = [:]
    private var uses = 0

    package init(text: any TextCoding, limits: ModelLimits) {
        self.text = text
        self.limits = limits
    }

    /// - Throws: `AnswerFault`, each time the same for the same form.
    func compiled(_ form: AnswerForm, _ layout: AnswerGrammar.Layout) throws(AnswerFault) -> Compiled {
        let key = Key(form: form.digest, layout: layout)
        lock.lock()
        defer { lock.unlock() }
        uses += 1
        if let known = kept[key] {
            kept[key]?.used = uses
            return try known.result.get()
        }
        let result = Result { () throws(AnswerFault) in
            let rules = try AnswerRules(form)
            return Compiled(rules: rules, grammar: try rules.grammar(layout, try tokens()))
        }
        if kept.count >= Self.keptCount, let oldest = kept.min(by: { $0.value.used < $1.value.used })?.key {
            kept[oldest] = nil
        }
        kept[key] = (result, uses)
        return try result.get()
    }

    private func tokens() throws(AnswerFault) -> TokenTrie {
        if let trie { return try trie.get() }
        let made = Result { () throws(AnswerFault) in
            guard let texts = text.tokenTexts else {
                throw AnswerFault("The model has no tokenizer by which answers could be given a form.")
            }
            return TokenTrie(
                texts, count: limits.vocabularySize, endOfSequence: limits.endOfSequence.sorted())
        }
        trie = made
        return try made.get()
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
