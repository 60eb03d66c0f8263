/// The one shape of errors that a person can mend: of what kind, where, and what is wrong and would be right.
///
/// How a program ends for a kind is not its error's business, but the command's (its `Failure`).
package protocol Fault: ExplainedError, Equatable, Sendable {
    associatedtype Kind: Equatable, Sendable
    var kind: Kind { get }
    /// A file, `FILE:LINE`, a repository; nil where the message says it.
    var place: String? { get }
    /// One complete sentence or two, ready for a terminal.
    var text: Message { get }
}

extension Fault {
    package var explanation: Message { place.map { "\($0): \(text)" } ?? text }
}
