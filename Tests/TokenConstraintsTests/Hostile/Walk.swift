import BatchEngine

@testable import TokenConstraints

/// Writes random answers, as a model would that has no preferences.
struct Walk {
    let tokens: TokenTrie
    var random: PlainRandom
    /// Tokens that are taken every other time, where they may be.
    var prefers: [Int32] = []

    struct Answer {
        var text: [UInt8] = []
        var tokens: [Int32] = []
        var isSteered = false
        /// What went wrong; nil if nothing did.
        var fault: String?
    }

    /// - Returns: a whole answer within the limit, or what was wrong with the masks.
    /// - Parameter visit: called with each mask, and the text before it.
    mutating func answer(
        _ grammar: AnswerGrammar, _ maxTokens: Int,
        visit: (any Constraint, TokenMask, [UInt8]) -> Void = { _, _, _ in }
    ) -> Answer {
        answer(grammar.constraint(maxTokens: maxTokens), maxTokens, visit: visit)
    }

    /// The same under any constraint.
    mutating func answer(
        _ constraint: any Constraint, _ maxTokens: Int,
        visit: (any Constraint, TokenMask, [UInt8]) -> Void = { _, _, _ in }
    ) -> Answer {
        var constraint = constraint
        var answer = Answer()
        while true {
            let mask = constraint.allowed()
            visit(constraint, mask, answer.text)
            answer.isSteered = constraint.isSteered
            if answer.tokens.count >= maxTokens || constraint.isComplete {
                if !mask[SmallVocabulary.end] { answer.fault = "not whole at its limit" }
                return answer
            }
            let wanted = prefers.filter { mask[$0] }.randomElement(using: &random)
            let takesWanted = wanted != nil && Bool.random(using: &random)
            guard let token = takesWanted ? wanted : Self.token(mask, &random) else {
                answer.fault = "an empty mask"
                return answer
            }
            if token == SmallVocabulary.end { return answer }
            guard constraint.accept(token) else {
                answer.fault = "\(token) is allowed, but not accepted"
                return answer
            }
            answer.text += tokens.text(of: token)
            answer.tokens.append(token)
        }
    }

    private static func token(_ mask: TokenMask, _ random: inout PlainRandom) -> Int32? {
        (0..<Int32(mask.count)).filter { mask[$0] }.randomElement(using: &random)
    }
}
