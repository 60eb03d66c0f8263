import BatchEngine

/// A position in an answer under a constraint.
struct GrammarConstraint: Constraint {
    private let grammar: AnswerGrammar
    private let maxTokens: Int
    /// Tokens so far.
    private var count = 0
    private var text: [UInt8] = []
    /// The grammar's writer when the answer began: another one would have to walk through `text` again.
    let writer: GrammarWriter
    /// The state after `text`.
    private(set) var state: Int32
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
        writer = grammar.currentWriter()
        state = writer.writer.start
        if !grammar.tokens.dropsFirstSpace { force() }
        follow()
    }

    private var left: Int { maxTokens - count }

    func allowed() -> TokenMask {
        let tokens = grammar.tokens
        if isComplete { return TokenMask(tokens.endOfSequence, count: tokens.count) }
        if let next = forced.first { return TokenMask(CollectionOfOne(next), count: tokens.count) }
        if writer.writer.isDeep(state) {
            if let next = closing.first ?? writer.plan(state)?.first {
                return TokenMask(CollectionOfOne(next), count: tokens.count)
            }
            if writer.writer.isFinal(state) {
                return TokenMask(tokens.endOfSequence, count: tokens.count)
            }
        }
        let all = writer.mask(state, isStart: count == 0)
        guard left < all.safe else { return all.mask }
        var some = writer.mask(state, isStart: count == 0, left: left).mask
        // One way to the end stays allowed at any cost.
        if let next = closing.first ?? writer.plan(state)?.first, !some[next] {
            some.insert(next)
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
        if forced.isEmpty { force() }
        follow()
        return true
    }

    private mutating func follow() {
        if forced.isEmpty, writer.writer.isDeep(state) { isSteered = true }
        isFinal = writer.writer.isFinal(state)
        isComplete = writer.writer.isComplete(state)
    }

    /// Takes forced tokens, if there is space for them and the rest.
    private mutating func force() {
        guard closing.isEmpty else { return }
        let next = writer.forced(state)
        guard !next.tokens.isEmpty,
            writer.writer.fewestBytes(state) - next.bytes <= left - next.tokens.count
        else { return }
        forced = next.tokens[...]
    }
}
