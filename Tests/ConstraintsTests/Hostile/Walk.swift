import BatchEngine

@testable import Constraints

/// Writes random answers, as a model would that has no preferences.
struct Walk {
    let tokens: TokenTrie
    var random: PlainRandom

    struct Answer {
        var text: [UInt8] = []
        /// What went wrong; nil if nothing did.
        var fault: String?
    }

    /// - Returns: a whole answer within the limit, or what was wrong with the masks.
    mutating func answer(_ grammar: AnswerGrammar, _ maxTokens: Int) -> Answer {
        var constraint = grammar.constraint(maxTokens: maxTokens)
        var answer = Answer()
        var count = 0
        while true {
            let mask = constraint.allowed()
            if count >= maxTokens || constraint.isComplete {
                if !mask[SmallVocabulary.end] { answer.fault = "not whole at its limit" }
                return answer
            }
            guard let token = Self.token(mask, &random) else {
                answer.fault = "an empty mask"
                return answer
            }
            if token == SmallVocabulary.end { return answer }
            guard constraint.accept(token) else {
                answer.fault = "\(token) is allowed, but not accepted"
                return answer
            }
            answer.text += tokens.text(of: token)
            count += 1
        }
    }

    private static func token(_ mask: TokenMask, _ random: inout PlainRandom) -> Int32? {
        (0..<Int32(mask.count)).filter { mask[$0] }.randomElement(using: &random)
    }
}
