/// An error for people: its kind, its place, and the fault with its remedy.
///
/// `description` is one or two complete sentences for a terminal. The command, not the error, knows each kind's exit
/// code.
public struct UserError: Error, Equatable, Sendable, CustomStringConvertible {
    public enum Kind: String, Sendable {
        // Of a job.

        /// An option on the command line is wrong.
        case usage
        /// The job itself is wrong.
        case badJob
        /// A file that the job names is missing or unreadable.
        case missingInput
        /// The output, or a file beside it, can't be created there.
        case cannotWrite
        /// A read, write, sync or rename failed.
        case io

        // Of results.

        /// Another run holds the output's lock.
        case locked
        /// The existing files are of another model or other settings, or are not ours.
        case mismatch
        /// The reader of the output stream has closed it.
        case closedStream
        /// Results of an earlier run would be lost without permission.
        case wouldLose
        /// More lines failed than allowed.
        case tooManyFailures
        /// A wait for the lock was interrupted.
        case interrupted

        // Of a model, or a library.

        /// A file or folder, or something on a hub, is missing or unreadable.
        case missing
        /// A file's content breaks its format.
        case malformed
        /// A file is well formed, but needs something unsupported.
        case unsupported
        /// A request (a prompt, a parameter) can't be served by this model.
        case badRequest
        /// A prompt has more tokens than the model's context.
        case promptTooLong
        /// The machine lacks a resource: memory, address space, threads.
        case resources

        // Of a hub, or the network.

        /// The name is of no model.
        case badName
        /// The token is missing or lacks the right.
        case forbidden
        /// No answer, or no valid one, even after retries; an address that can't be reached.
        case network
        /// The content is not the published one.
        case damaged
        /// The network is needed but not allowed.
        case offline
    }

    public let kind: Kind
    /// A file as the user named it, `FILE:LINE`, a repository; nil if the message names it.
    public let place: String?
    package let text: Message
    public var message: String { text.text }
    /// The errno, if there is one.
    public let code: Int32?

    /// - Parameter place: shown escaped, like all values interpolated into the message.
    package init(_ kind: Kind, at place: String? = nil, _ message: Message, code: Int32? = nil) {
        (self.kind, self.place, text, self.code) = (kind, place, message, code)
    }

    /// - Parameter message: shown escaped, line feeds included.
    @_disfavoredOverload
    package init(_ kind: Kind, at place: String? = nil, _ message: String) {
        self.init(kind, at: place, Message(value: message))
    }

    public var description: String { explanation.text }
    package var explanation: Message { place.map { "\($0): \(text)" } ?? text }
}
