import BatchEngine

/// A position in an answer under a constraint.
struct GrammarConstraint: Constraint {
    private let grammar: AnswerGrammar
    private let maxTokens: Int
    /// Tokens so far.
    private var count = 0
    private var text: [UInt8] = []
    /// The state after `text`, in the writer of that number.
    private(set) var state: Int32
    private(set) var writer: Int
    /// The next tokens, the canonical ones of a forced text.
    private(set) var forced: ArraySlice<Int32> = []
    /// The way to the end that is followed if the shortest one would take too many tokens.
    private var closing: ArraySlice<Int32> = []
    private(set) var isSteered = false
    private(set) var isComplete = false
    private var isFinal = false

    init(_ grammar: AnswerGrammar, maxTokens: Int) {
        self.grammar = grammar
        self.maxTokens = maxTokens
        (writer, state) = (-1, 0)
        // At once, as the next call may receive another writer.
        grammar.withWriter { number, writer in
            (self.writer, state) = (number, writer.writer.start)
            if !grammar.tokens.dropsFirstSpace { force(writer) }
            follow(writer)
        }
    }

    private var left: Int { maxTokens - count }

    func allowed() -> TokenMask {
        let tokens = grammar.tokens
        if isComplete { return TokenMask(tokens.endOfSequence, count: tokens.count) }
        if let next = forced.first { return TokenMask(CollectionOfOne(next), count: tokens.count) }
        return grammar.withWriter { number, writer in
            mask(state(in: writer, number), writer).mask
        }
    }

    private func state(in writer: GrammarWriter, _ number: Int) -> Int32 {
        number == self.writer ? state : writer.state(after: text)
    }

    /// - Parameter state: in this writer.
    private func mask(_ state: Int32, _ writer: GrammarWriter) -> StateMask {
        if writer.writer.isDeep(state) {
            if let next = closing.first ?? writer.plan(state)?.first {
                return StateMask(only: next, count: grammar.tokens.count)
            }
            if writer.writer.isFinal(state) {
                return StateMask(mask: TokenMask(grammar.tokens.endOfSequence, count: grammar.tokens.count))
            }
        }
        let all = writer.mask(state, isStart: count == 0)
        guard left < all.safe else { return all }
        var some = writer.mask(state, isStart: count == 0, left: left)
        // One way to the end stays allowed at any cost.
        if let next = closing.first ?? writer.plan(state)?.first, !some.mask[next] {
            some.mask.insert(next)
        }
        return some
    }

    mutating func accept(_ token: Int32) -> Bool {
        if grammar.tokens.endOfSequence.contains(token) { return isFinal }
        if let next = forced.first, next != token { return false }
        var bytes = grammar.tokens.text(of: token)
        if count == 0, grammar.tokens.dropsFirstSpace, bytes.first == UInt8(ascii: " ") {
            bytes = bytes.dropFirst()
        }
        guard !bytes.isEmpty else { return false }
        return grammar.withWriter { number, writer in
            (state, self.writer) = (state(in: writer, number), number)
            guard let after = writer.writer.state(after: bytes, from: state, text) else { return false }
            if !isSteered, forced.isEmpty, left < writer.mostSafe(state) {
                let all = writer.mask(state, isStart: count == 0)
                isSteered =
                    left < all.safe && writer.mask(state, isStart: count == 0, left: left).isLimited
            }
            let before = state
            state = after
            text += bytes
            count += 1
            if writer.fits(state, left), !writer.writer.isDeep(state) {
                closing = []
            } else {
                closing = closing.first == token ? closing.dropFirst() : writer.planTail(before, after: token)
            }
            forced = forced.dropFirst()
            if forced.isEmpty { force(writer) }
            follow(writer)
            return true
        }
    }

    private mutating func follow(_ writer: GrammarWriter) {
        if forced.isEmpty, writer.writer.isDeep(state) { isSteered = true }
        isFinal = writer.writer.isFinal(state)
        isComplete = writer.writer.isComplete(state)
    }

    /// Takes forced tokens, if there is space for them and the rest.
    private mutating func force(_ writer: GrammarWriter) {
        guard closing.isEmpty else { return }
        let next = writer.forced(state)
        guard !next.tokens.isEmpty,
            writer.writer.fewestBytes(state) - next.bytes <= left - next.tokens.count
        else { return }
        forced = next.tokens[...]
    }
}
