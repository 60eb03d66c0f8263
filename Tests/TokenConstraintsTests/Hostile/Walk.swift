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
        /// What went wrong; nil if nothing did.
        var fault: String?
    }

    /// - Returns: a whole answer within the limit, or what was wrong with the masks.
    mutating func answer(_ grammar: AnswerGrammar, _ maxTokens: Int) -> Answer {
        answer(grammar.constraint(maxTokens: maxTokens), maxTokens)
    }

    /// The same under any constraint.
    mutating func answer(_ constraint: any Constraint, _ maxTokens: Int) -> Answer {
        var constraint = constraint
        var answer = Answer()
        var count = 0
        while true {
            let mask = constraint.allowed()
            if count >= maxTokens || constraint.isComplete {
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
            count += 1
        }
    }

    private static func token(_ mask: TokenMask, _ random: inout PlainRandom) -> Int32? {
        (0..<Int32(mask.count)).filter { mask[$0] }.randomElement(using: &random)
    }
}
