import Faults

/// Why a model is not to be had: what, of which repository or file, and what would help.
public struct HubError: Error, Equatable, CustomStringConvertible {
    public enum Kind: String, Sendable {
        /// The name means no model.
        case badName
        /// The hub, the repository, the revision or a file of it is not there.
        case missing
        /// The token is missing or lacks the right.
        case forbidden
        /// No answer, or none of use, also after some tries.
        case network
        /// What came is not what was promised.
        case damaged
        /// Files on this machine can't be read or written.
        case files
        /// The network is needed and may not be used.
        case offline
    }

    public let kind: Kind
    /// The repository or path at fault.
    public let place: String?
    package let text: Message

    package init(_ kind: Kind, _ place: String, _ message: Message) {
        self.kind = kind
        self.place = place
        text = message
    }

    public var description: String { explanation.text }
}

extension HubError: Fault {}
