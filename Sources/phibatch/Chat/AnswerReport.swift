import Faults
import PhiModel

/// The line after an answer: tokens, tokens a second, and why it ended, unless the model ended it.
enum AnswerReport {
    /// - Parameter maxTokens: what the answer was limited to.
    static func line(_ answer: Answer, maxTokens: Int) -> Message {
        let line = line(tokens: answer.tokens.count, perSecond: answer.tokensPerSecond)
        switch answer.ending {
        case .stop: return line
        case .stopSequence: return line + "; a stop string came up"
        case .reasoningLength:
            return line
                + "; the thought had no end: --max-tokens is \(maxTokens), --max-reasoning-tokens ends it"
        case .length where answer.tokens.count >= maxTokens:
            return line + "; length: --max-tokens is \(maxTokens)"
        case .length:
            return line
                + "; length: the model's context is full. /reset forgets what was said (/save keeps it)."
        }
    }

    /// - Parameter tokens: of the text so far.
    static func interrupted(tokens: Int, seconds: Double) -> Message {
        line(tokens: tokens, perSecond: seconds > 0 ? Double(max(0, tokens - 1)) / seconds : 0)
            + "; interrupted"
    }

    private static func line(tokens: Int, perSecond: Double) -> Message {
        let line: Message = "\(tokens) token\(tokens == 1 ? "" : "s")"
        guard perSecond > 0 else { return line }
        return line + ", \((perSecond * 10).rounded() / 10) tokens/s"
    }
}
