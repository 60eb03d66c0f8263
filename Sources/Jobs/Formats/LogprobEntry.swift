import BatchEngine
import FoundationShim
import JSON
import PhiText

/// Log-probability of a token, and those of the likeliest tokens in its place: JSON as in OpenAI's chat completions, with
/// an `id` for each token.
///
///     {"token":"é","id":7,"logprob":-0.1,"bytes":[195,169],"top_logprobs":[{"token","id","logprob","bytes"},…]}
///
/// A running completion stores its text beside the token.
enum LogprobEntry {
    /// Log-probability of a masked token: JSON has no infinity, and OpenAI's API writes this number.
    static let impossible: Float = -9999

    static func json(_ choice: SampledToken, text: any TextCoding) -> JSONValue {
        func token(_ token: TokenLogprob) -> JSONObject {
            let piece = text.piece(of: token.id)
            return [
                "token": .string(piece.text), "id": .int(Int(token.id)),
                "logprob": .plain(token.logprob.isFinite ? token.logprob : impossible),
                "bytes": .array(piece.bytes.map { .int(Int($0)) }),
            ]
        }
        var entry = token(TokenLogprob(id: choice.token, logprob: choice.logprob ?? -.infinity))
        entry["top_logprobs"] = .array(choice.top.map { .object(token($0)) })
        return .object(entry)
    }

    /// - Returns: nil if the text is no such entry.
    static func json(of note: String) -> JSONValue? {
        func isToken(_ json: JSONValue) -> Bool {
            json.string("token") != nil && json.int("id").flatMap { Int32(exactly: $0) } != nil
                && json.number("logprob") != nil && json["bytes"]?.numbers(UInt8.self) != nil
        }
        guard let json = try? JSONValue(parsing: Array(note.utf8), limits: .ownLine), isToken(json),
            json["top_logprobs"]?.elements?.allSatisfy(isToken) == true
        else { return nil }
        return json
    }

    /// Returns the bytes of a token's name.
    static func bytes(of token: JSONValue) -> [UInt8] {
        partialBytes(of: token) ?? Array((token.string("token") ?? "").utf8)
    }

    /// Returns the text, or the bytes of a partial character in the form of OpenAI's completions: `bytes:\\xf0\\x9f`.
    static func name(of token: JSONValue) -> String {
        guard let bytes = partialBytes(of: token) else { return token.string("token") ?? "" }
        return bytes.reduce("bytes:") { name, byte in
            let digits = String(byte, radix: 16)
            return name + "\\x" + (digits.count < 2 ? "0" : "") + digits
        }
    }

    /// Returns a token's own bytes if they are part of a character.
    private static func partialBytes(of token: JSONValue) -> [UInt8]? {
        guard let bytes = token["bytes"]?.numbers(UInt8.self), !bytes.isEmpty, !UTF8Bytes.areValid(bytes)
        else { return nil }
        return bytes
    }
}
