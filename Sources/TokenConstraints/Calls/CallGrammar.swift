import BatchEngine
import OperatingSystem

/// Text, and calls of functions in JSON once a mark has come; or calls alone, or an answer of another form. Requests
/// share it.
package final class CallGrammar: Sendable {
    /// Whether there are calls.
    package enum Choice: String, Sendable { case none, auto, required }

    /// What comes before the calls.
    package struct Mark: Sendable {
        package var text: String
        /// Its tokens.
        package var tokens: [Int32]

        package init(text: String, tokens: [Int32]) { (self.text, self.tokens) = (text, tokens) }
    }

    let choice: Choice
    /// The calls after the mark.
    let calls: AnswerGrammar
    let opening: Mark
    /// What an answer without calls must be like; nil where it may be any text.
    package let answer: AnswerGrammar?
    let mark: [UInt8]
    let anything: TokenMask
    /// For each number of bytes of the mark that have come, the tokens that go beyond it, and all that come to its end.
    private let ends: [OnFirstUse<(beyond: TokenMask, all: TokenMask)>]

    /// - Parameter answer: what an answer without calls must be like, where the model may choose.
    package init(
        _ calls: AnswerGrammar, _ choice: Choice, after opening: Mark, beside answer: AnswerGrammar? = nil
    ) {
        (self.calls, self.choice, self.opening, self.answer) = (calls, choice, opening, answer)
        let (tokens, mark) = (calls.tokens, Array(opening.text.utf8))
        let single = opening.tokens.count == 1 ? opening.tokens.first : nil
        self.mark = mark
        anything = TokenMask(0..<Int32(tokens.count), count: tokens.count)
        ends = mark.indices.map { came in
            OnFirstUse {
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
        choice == .required ? opening.tokens.count + calls.leastTokens : answer?.leastTokens ?? 1
    }

    /// - Parameter maxTokens: of the answer, at least `leastTokens`.
    package func constraint(maxTokens: Int) -> any Constraint {
        answer.map { EitherConstraint(self, $0, maxTokens: maxTokens) }
            ?? CallConstraint(self, maxTokens: maxTokens)
    }

    /// Text that may have calls after it: what may come next.
    /// - Parameters:
    ///   - came: bytes of the mark that have come.
    ///   - left: tokens that are left.
    func allowed(after came: Int, left: Int) -> TokenMask {
        let ends = ends[came].value
        // With no room for calls none may begin.
        var allowed = anything
        allowed.subtract(choice == .none || left - 1 < calls.leastTokens ? ends.all : ends.beyond)
        return allowed
    }

    /// How many bytes of a token come after the mark's end; nil if it doesn't come to that.
    static func rest(of text: ArraySlice<UInt8>, after came: Int, of mark: [UInt8]) -> Int? {
        var came = came
        for (number, byte) in text.enumerated() {
            came = next(came, byte, mark)
            if came == mark.count { return text.count - number - 1 }
        }
        return nil
    }

    /// How many bytes of the mark have come after one more. A mark begins with a byte that it has nowhere else.
    static func next(_ came: Int, _ byte: UInt8, _ mark: [UInt8]) -> Int {
        byte == mark[came] ? came + 1 : byte == mark[0] ? 1 : 0
    }
}

/// A place in an answer that may have calls.
private struct CallConstraint: Constraint {
    private let grammar: CallGrammar
    /// Bytes of the mark that have come.
    private var came = 0
    private var left: Int
    /// Tokens of the mark that come next whatever the model says.
    private var certain: ArraySlice<Int32>
    private var calls: (any Constraint)?

    init(_ grammar: CallGrammar, maxTokens: Int) {
        self.grammar = grammar
        left = maxTokens
        certain = grammar.choice == .required ? grammar.opening.tokens[...] : []
    }

    func allowed() -> TokenMask {
        if let token = certain.first { return TokenMask([token], count: grammar.anything.count) }
        return calls?.allowed() ?? grammar.allowed(after: came, left: left)
    }

    mutating func accept(_ token: Int32) -> Bool {
        if calls != nil { return calls?.accept(token) ?? false }
        if let next = certain.first {
            guard token == next else { return false }
            certain.removeFirst()
        } else {
            guard grammar.allowed(after: came, left: left)[token] else { return false }
            if grammar.opening.tokens == [token] {
                came = grammar.mark.count
            } else {
                for byte in grammar.calls.tokens.text(of: token) where came < grammar.mark.count {
                    came = CallGrammar.next(came, byte, grammar.mark)
                }
            }
        }
        left -= 1
        if grammar.choice == .required ? certain.isEmpty : came == grammar.mark.count {
            calls = grammar.calls.constraint(maxTokens: left)
        }
        return true
    }

    var isComplete: Bool { calls?.isComplete ?? false }
    var isSteered: Bool { calls?.isSteered ?? false }
    var forced: ArraySlice<Int32> { certain.isEmpty ? calls?.forced ?? [] : certain }
}

/// A place in an answer that is calls alone, or of another form.
private struct EitherConstraint: Constraint {
    private let calls: AnswerGrammar
    /// The most tokens of the calls.
    private let room: Int
    /// The rest of the mark, as long as it may come.
    private var mark: ArraySlice<Int32>
    /// The answer, or the calls once the mark has come; nil where only the mark may go on.
    private var text: (any Constraint)?

    init(_ grammar: CallGrammar, _ answer: AnswerGrammar, maxTokens: Int) {
        calls = grammar.calls
        room = maxTokens - grammar.opening.tokens.count
        mark = room < calls.leastTokens ? [] : grammar.opening.tokens[...]
        text = answer.constraint(maxTokens: maxTokens)
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
