import Foundations

/// Why a model is not to be had: what, of which repository or file, and what would help.
package struct HubError: Fault, CustomStringConvertible {
    package enum Kind: String, Sendable {
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

    package let kind: Kind
    /// The repository or path at fault.
    package let place: String?
    package let text: Message

    package init(_ kind: Kind, _ place: String, _ message: Message) {
        self.kind = kind
        self.place = place
        text = message
    }

    package var description: String { explanation.text }
}
