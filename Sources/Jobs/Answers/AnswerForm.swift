import JSON
import OperatingSystem

/// What answers must look like, as a job or a line asks for it.
package struct AnswerForm: Sendable, Equatable {
    package enum Content: Sendable, Equatable {
        /// Any text: what `response_format` of the type `text` asks for.
        case text
        /// A JSON object.
        case object
        /// JSON that a schema accepts.
        case schema(JSONValue)
        /// A text that a regular expression matches as a whole.
        case regex(String)
    }

    package let content: Content
    /// The same for the same content, and no other: SHA-256 over it.
    let digest: [UInt8]
    /// As JSON, or the expression; empty where the kind says it all.
    let text: String

    package init(_ content: Content) {
        self.content = content
        let kind: String
        (kind, text) =
            switch content {
            case .text: ("text", "")
            case .object: ("object", "")
            case .schema(let schema): ("schema", JSONWriter.text(of: schema.withPlainNumbers))
            case .regex(let pattern): ("regex", pattern)
            }
        digest = SHA.sha256(of: "\(kind) \(text)".utf8)
    }

    package static func == (a: Self, b: Self) -> Bool { a.digest == b.digest }

    /// Whether there is anything that an answer must be.
    package var isConstraint: Bool { content != .text }

    /// Short, distinct for distinct forms: for the fingerprint.
    var fingerprint: String {
        switch content {
        case .text: "text"
        case .object: "json_object"
        case .schema: "sha256 \(Hexadecimal.text(digest.prefix(16))), \(text.utf8.count) bytes"
        case .regex(let pattern): ResultText.list([pattern])
        }
    }
}

extension JSONValue {
    /// With each number spelled as a Double is, where that is the same number: a form's digest doesn't change with
    /// the spelling of `1.50`.
    fileprivate var withPlainNumbers: JSONValue {
        switch self {
        case .number(let number) where ExactNumber(number) == ExactNumber(number.value):
            integer.map(JSONValue.int) ?? .plain(number.value)
        case .array(let elements): .array(elements.map(\.withPlainNumbers))
        case .object(let members):
            .object(JSONObject(members.map { JSONMember(name: $0.name, value: $0.value.withPlainNumbers) }))
        default: self
        }
    }
}
