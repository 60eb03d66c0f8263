import BatchEngine
import OperatingSystem

/// Text, and calls of functions in JSON after a mark; or only calls, or another constrained answer. Requests share it.
package final class CallGrammar: Sendable {
    /// Whether calls are allowed.
    package enum Choice: String, Sendable { case none, auto, required }

    let choice: Choice
    /// The calls after the mark.
    let calls: AnswerGrammar
    /// Tokens of the mark.
    let opening: [Int32]
    /// The constraint of an answer without calls; nil if it is free.
    package let answer: AnswerGrammar?
    let mark: [UInt8]
    let anything: TokenMask
    /// For each number of matched bytes of the mark, the tokens that go beyond its end, and all that reach it.
    private let ends: [Lazy<(beyond: TokenMask, all: TokenMask)>]

    /// - Parameters:
    ///   - mark: text before the calls, and its tokens.
    ///   - answer: the constraint of an answer without calls, if the model may choose.
    package init(
        _ calls: AnswerGrammar, _ choice: Choice, after mark: (text: String, tokens: [Int32]),
        beside answer: AnswerGrammar? = nil
    ) {
        (self.calls, self.choice, opening, self.answer) = (calls, choice, mark.tokens, answer)
        let (tokens, mark) = (calls.tokens, Array(mark.text.utf8))
        let single = opening.count == 1 ? opening.first : nil
        self.mark = mark
        anything = TokenMask(0..<Int32(tokens.count), count: tokens.count)
        ends = mark.indices.map { came in
            Lazy {
                var (beyond, all) = (TokenMask(count: tokens.count), TokenMask(count: tokens.count))
                for token in 0..<Int32(tokens.count) where token != single {
                    guard let rest = Self.rest(of: tokens.text(of: token), after: came, of: mark) else {
                        continue
                    }
                    all[token] = true
                    if rest > 0 { beyond[token] = true }
                }
                if let single { all[single] = true }
                return (beyond, all)
            }
        }
    }

    /// The fewest tokens of an answer.
    package var leastTokens: Int {
        choice == .required ? opening.count + calls.leastTokens : answer?.leastTokens ?? 1
    }

    /// - Parameter maxTokens: of the answer, at least `leastTokens`.
    package func constraint(maxTokens: Int) -> any Constraint {
        choice == .required || answer != nil
            ? EitherConstraint(self, maxTokens: maxTokens) : CallConstraint(self, maxTokens: maxTokens)
    }

    /// Returns the tokens allowed in text that calls may follow.
    /// - Parameters:
    ///   - came: matched bytes of the mark.
    ///   - left: tokens that are left.
    func allowed(after came: Int, left: Int) -> TokenMask {
        let ends = ends[came].value
        // Without space for calls none may begin.
        var allowed = anything
        allowed.subtract(choice == .none || left - 1 < calls.leastTokens ? ends.all : ends.beyond)
        return allowed
    }

    /// Returns the bytes of a token after the mark's end; nil if it doesn't reach that.
    static func rest(of text: ArraySlice<UInt8>, after came: Int, of mark: [UInt8]) -> Int? {
        var came = came
        for (number, byte) in text.enumerated() {
            came = next(came, byte, mark)
            if came == mark.count { return text.count - number - 1 }
        }
        return nil
    }

    /// Returns the matched bytes of the mark after one more. A mark's first byte occurs only once in it.
    static func next(_ came: Int, _ byte: UInt8, _ mark: [UInt8]) -> Int {
        byte == mark[came] ? came + 1 : byte == mark[0] ? 1 : 0
    }
}

/// A state in text that calls may follow.
private struct CallConstraint: Constraint {
    private let grammar: CallGrammar
    /// Matched bytes of the mark.
    private var came = 0
    private var left: Int
    private var calls: (any Constraint)?

    init(_ grammar: CallGrammar, maxTokens: Int) { (self.grammar, left) = (grammar, maxTokens) }

    func allowed() -> TokenMask { calls?.allowed() ?? grammar.allowed(after: came, left: left) }

    mutating func accept(_ token: Int32) -> Bool {
        if calls != nil { return calls?.accept(token) ?? false }
        guard grammar.allowed(after: came, left: left)[token] else { return false }
        if grammar.opening == [token] {
            came = grammar.mark.count
        } else {
            for byte in grammar.calls.tokens.text(of: token) where came < grammar.mark.count {
                came = CallGrammar.next(came, byte, grammar.mark)
            }
        }
        left -= 1
        if came == grammar.mark.count { calls = grammar.calls.constraint(maxTokens: left) }
        return true
    }

    var isComplete: Bool { calls?.isComplete ?? false }
    var isSteered: Bool { calls?.isSteered ?? false }
    var forced: ArraySlice<Int32> { calls?.forced ?? [] }
}

/// A state in an answer that is only calls, or another constrained text if there is one.
private struct EitherConstraint: Constraint {
    private let calls: AnswerGrammar
    /// The most tokens of the calls.
    private let room: Int
    /// The rest of the mark, while it may still follow.
    private var mark: ArraySlice<Int32>
    /// The answer, or the calls after the mark; nil if only the mark may continue.
    private var text: (any Constraint)?

    init(_ grammar: CallGrammar, maxTokens: Int) {
        calls = grammar.calls
        room = maxTokens - grammar.opening.count
        mark = room < calls.leastTokens ? [] : grammar.opening[...]
        text = grammar.answer?.constraint(maxTokens: maxTokens)
    }

    func allowed() -> TokenMask {
        var allowed = text?.allowed() ?? TokenMask(count: calls.tokens.count)
        if let token = mark.first { allowed.insert(token) }
        return allowed
    }

    mutating func accept(_ token: Int32) -> Bool {
        guard token == mark.first else {
            guard text?.accept(token) == true else { return false }
            mark = []
            return true
        }
        mark.removeFirst()
        if mark.isEmpty {
            text = calls.constraint(maxTokens: room)
        } else if text?.accept(token) != true {
            text = nil
        }
        return true
    }

    var isComplete: Bool { mark.isEmpty && text?.isComplete ?? false }
    var isSteered: Bool { text?.isSteered ?? false }
    var forced: ArraySlice<Int32> { text == nil ? mark : mark.isEmpty ? text?.forced ?? [] : [] }
}
