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

        /// Bytes of the text, or those in `name`.
        var namedBytes: [UInt8] {
            guard name.utf8.starts(with: "bytes:\\x".utf8) else { return Array(text.utf8) }
            return name.utf8.dropFirst(6).split(separator: UInt8(ascii: "\\")).compactMap { digits in
                UInt8(String(decoding: digits.dropFirst(), as: UTF8.self), radix: 16)
            }
        }

        /// The text, or the bytes of a partial character in the form of OpenAI's completions: `bytes:\\xf0\\x9f`.
        var name: String {
            if bytes.isEmpty || UTF8Check.isValid(bytes) { return text }
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
        var text = encoded
        let entry = try? text.withUTF8 { utf8 in
            try JSONScanner.scan(UnsafeRawBufferPointer(utf8), limits: .ownLine) { try LogprobEntry(&$0) }
        }
        guard let entry else { return nil }
        self = entry
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            Self.write(token, to: &writer)
            writer.array("top_logprobs") { writer in
                for token in top { writer.object { Self.write(token, to: &$0) } }
            }
        }
    }

    private static func write(_ token: Token, to writer: inout JSONWriter) {
        writer.string("token", token.text)
        writer.int("id", token.id)
        writer.number("logprob", token.logprob)
        writer.array("bytes") { writer in for byte in token.bytes { writer.int(byte) } }
    }

    /// - Throws: `JSONFault` for anything else.
    init(_ scanner: inout JSONScanner) throws {
        var top: [Token]?
        token = try Self.token(&scanner) { scanner, name in
            guard name.spells("top_logprobs") else { return false }
            var tokens: [Token] = []
            try scanner.array { scanner in tokens.append(try Self.token(&scanner) { _, _ in false }) }
            top = tokens
            return true
        }
        guard let top else { throw scanner.fault("a log-probability without the likeliest tokens") }
        self.top = top
    }

    /// - Parameter other: reads a member that isn't a token's, or returns false.
    private static func token(
        _ scanner: inout JSONScanner,
        other: (inout JSONScanner, UnsafeBufferPointer<UInt8>) throws -> Bool
    ) throws -> Token {
        var (text, id, logprob, bytes): (String?, Int32?, Float?, [UInt8]?)
        try scanner.object { scanner, name in
            if name.spells("token") {
                text = try scanner.string()
            } else if name.spells("id") {
                id = Int32(exactly: try scanner.integer())
            } else if name.spells("logprob") {
                // Not by way of a Double, which could round twice.
                logprob = Float(String(decoding: try scanner.numberBytes(), as: UTF8.self))
            } else if name.spells("bytes") {
                var values: [UInt8] = []
                try scanner.array { scanner in
                    guard let byte = UInt8(exactly: try scanner.integer()) else {
                        throw scanner.fault("expected a byte")
                    }
                    values.append(byte)
                }
                bytes = values
            } else if try !other(&scanner, name) {
                throw scanner.fault("a log-probability has no such member")
            }
        }
        guard let text, let id, let logprob, logprob.isFinite, let bytes else {
            throw scanner.fault("a log-probability lacks a member")
        }
        return Token(text: text, id: id, logprob: logprob, bytes: bytes)
    }
}
