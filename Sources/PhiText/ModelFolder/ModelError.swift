import Errors

/// A fault in what a person or a file gave us: what is wrong, where, and what would be right.
///
/// `description` is one complete sentence or two, ready for a terminal.
public struct ModelError: Error, Equatable, CustomStringConvertible {
    public enum Kind: String, Sendable {
        /// A file or folder is not there or can't be read.
        case missing
        /// A file is there, but its content breaks its format.
        case malformed
        /// A file is well formed, but asks for something phibatch does not do.
        case unsupported
        /// A request (a prompt, a parameter) can't be served by this model.
        case badRequest
        /// A prompt has more tokens than the model's context.
        case promptTooLong
        /// The machine can't give what is needed: memory, address space, threads.
        case resources
    }

    public let kind: Kind
    /// The file at fault, as the user named it, where there is one.
    public let path: String?
    package let text: Message
    public var message: String { text.text }

    /// - Parameters:
    ///   - path: shown with escapes, like all values that are interpolated into the message.
    package init(_ kind: Kind, path: String? = nil, _ message: Message) {
        self.kind = kind
        self.path = path
        text = message
    }

    /// - Parameter message: shown with escapes, line feeds included.
    @_disfavoredOverload
    package init(_ kind: Kind, path: String? = nil, _ message: String) {
        self.init(kind, path: path, Message(value: message))
    }

    public var description: String { explanation.text }
}

extension ModelError: Fault {
    package var place: String? { path }
}
