import BatchEngine
import Foundations
import PhiModel

/// A token's entry in `logprobs.content`, shaped as in OpenAI's chat completions, each token with its `id`.
struct LogprobEntry {
    private let choice: TokenChoice
    private let text: any TextCoding

    init(_ choice: TokenChoice, text: any TextCoding) {
        self.choice = choice
        self.text = text
    }

    var encoded: String {
        var writer = JSONWriter()
        writer.object { writer in
            members(TokenLogprob(id: choice.token, logprob: choice.logprob ?? -.infinity), &writer)
            writer.key("top_logprobs")
            writer.array { writer in
                for top in choice.top { writer.object { members(top, &$0) } }
            }
        }
        return writer.text
    }

    private func members(_ token: TokenLogprob, _ writer: inout JSONWriter) {
        let piece = text.piece(of: token.id)
        writer.key("token")
        writer.string(piece.text)
        writer.key("id")
        writer.int(token.id)
        writer.key("logprob")
        // JSON has no infinity; -9999 is what OpenAI's API writes for "impossible".
        writer.number(token.logprob.isFinite ? token.logprob : -9999)
        writer.key("bytes")
        writer.array { writer in for byte in piece.bytes { writer.int(byte) } }
    }
}
