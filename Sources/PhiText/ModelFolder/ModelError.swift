import Errors

/// A fault in input from a person or a file: what is wrong, where, and what would be right.
///
/// `description` is one or two complete sentences for a terminal.
public struct ModelError: Error, Equatable, CustomStringConvertible {
    public enum Kind: String, Sendable {
        /// A file or folder doesn't exist or can't be read.
        case missing
        /// The content of a file breaks its format.
        case malformed
        /// A file is well formed, but needs something that phibatch doesn't support.
        case unsupported
        /// This model can't serve a request (a prompt, a parameter).
        case badRequest
        /// A prompt has more tokens than the model's context.
        case promptTooLong
        /// The machine lacks memory, address space or threads.
        case resources
    }

    public let kind: Kind
    /// The file at fault, as the user named it, if there is one.
    public let path: String?
    package let text: Message
    public var message: String { text.text }

    /// - Parameters:
    ///   - path: shown escaped, like all values interpolated into the message.
    package init(_ kind: Kind, path: String? = nil, _ message: Message) {
        self.kind = kind
        self.path = path
        text = message
    }

    /// - Parameter message: shown escaped, line feeds included.
    @_disfavoredOverload
    package init(_ kind: Kind, path: String? = nil, _ message: String) {
        self.init(kind, path: path, Message(value: message))
    }

    public var description: String { explanation.text }
}

extension ModelError: Fault {
    package var place: String? { path }
}
