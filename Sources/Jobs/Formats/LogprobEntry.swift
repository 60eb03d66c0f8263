import BatchEngine
import FoundationShim
import JSON
import PhiText

/// Log-probability of a token, and those of the likeliest tokens in its place.
package struct LogprobEntry: Sendable, Equatable {
    package struct Token: Sendable, Equatable {
        package var text: String
        package var id: Int32
        /// Natural logarithm; `impossible` for a masked token.
        package var logprob: Float
        /// The token's own bytes, perhaps part of a character.
        package var bytes: [UInt8]

        private var isPartial: Bool { !bytes.isEmpty && !UTF8Bytes.areValid(bytes) }

        /// Bytes of the text, or those in `name`.
        var namedBytes: [UInt8] { isPartial ? bytes : Array(text.utf8) }

        /// The text, or the bytes of a partial character in the form of OpenAI's completions: `bytes:\\xf0\\x9f`.
        var name: String {
            guard isPartial else { return text }
            return bytes.reduce("bytes:") { name, byte in
                let digits = String(byte, radix: 16)
                return name + "\\x" + (digits.count < 2 ? "0" : "") + digits
            }
        }
    }

    /// JSON has no infinity; OpenAI's API writes this number.
    static let impossible: Float = -9999

    package var token: Token
    package var top: [Token]
}

extension LogprobEntry {
    init(_ choice: SampledToken, text: any TextCoding) {
        func token(_ token: TokenLogprob) -> Token {
            let piece = text.piece(of: token.id)
            return Token(
                text: piece.text, id: token.id,
                logprob: token.logprob.isFinite ? token.logprob : Self.impossible, bytes: piece.bytes)
        }
        self.token = token(TokenLogprob(id: choice.token, logprob: choice.logprob ?? -.infinity))
        top = choice.top.map(token)
    }
}

/// JSON as in OpenAI's chat completions, with an `id` for each token.
extension LogprobEntry {
    /// Form stored beside a token of a running completion.
    var encoded: String {
        var writer = JSONWriter()
        write(to: &writer)
        return writer.text
    }

    /// - Returns: nil if the text is no such entry.
    init?(encoded: String) {
        guard let json = try? JSONValue(parsing: Array(encoded.utf8), limits: .ownLine) else { return nil }
        self.init(json)
    }

    init?(_ json: JSONValue) {
        guard let token = Token(json), case .array(let others)? = json["top_logprobs"] else { return nil }
        let top = others.compactMap { Token($0) }
        if top.count < others.count { return nil }
        self.init(token: token, top: top)
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            Self.write(token, to: &writer)
            writer.objects("top_logprobs", top) { Self.write($1, to: &$0) }
        }
    }

    private static func write(_ token: Token, to writer: inout JSONWriter) {
        writer.string("token", token.text)
        writer.int("id", token.id)
        writer.number("logprob", token.logprob)
        writer.array("bytes", token.bytes) { $0.int($1) }
    }
}

extension LogprobEntry.Token {
    fileprivate init?(_ json: JSONValue) {
        guard let text = json.string("token"), let id = json.int("id").flatMap({ Int32(exactly: $0) }),
            let logprob = json["logprob"]?.float, let bytes = json["bytes"]?.numbers(UInt8.self)
        else { return nil }
        self.init(text: text, id: id, logprob: logprob, bytes: bytes)
    }
}

extension JSONValue {
    /// A finite number, not by way of a Double, which could round twice.
    var float: Float? {
        switch self {
        case .int(let number): Float(number)
        case .number(let number): Float(number.text).flatMap { $0.isFinite ? $0 : nil }
        default: nil
        }
    }
}
