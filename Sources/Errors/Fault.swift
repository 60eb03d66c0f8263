/// An error that a person can correct: its kind, its place, what is wrong, and what would be right.
///
/// The exit code of a kind is chosen by the command (its `Failure`).
package protocol Fault: ExplainedError, Equatable, Sendable {
    associatedtype Kind: Equatable, Sendable
    var kind: Kind { get }
    /// A file, `FILE:LINE`, a repository; nil if the message has it.
    var place: String? { get }
    /// One or two complete sentences for a terminal.
    var text: Message { get }
}

extension Fault {
    package var explanation: Message { place.map { "\($0): \(text)" } ?? text }
}
