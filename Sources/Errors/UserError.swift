/// An error that a person can mend: of what kind, where, and what is wrong and would be right.
///
/// `description` is one complete sentence or two, ready for a terminal. What the program's exit code is for a kind is not
/// its error's business, but the command's.
public struct UserError: Error, Equatable, Sendable, CustomStringConvertible {
    public enum Kind: String, Sendable {
        // Of a job.

        /// An option on the command line is wrong.
        case usage
        /// The job itself is wrong.
        case badJob
        /// A file that the job names is not there or can't be read.
        case missingInput
        /// The output, or a file beside it, can't be made there.
        case cannotWrite
        /// A read, write, sync or rename failed.
        case io

        // Of results.

        /// Another run holds the output's lock.
        case locked
        /// The files there are of another model or other settings, or are not ours.
        case mismatch
        /// The reader of the output stream has closed it.
        case closedStream
        /// Results of an earlier run would be lost, and nobody said that they may.
        case wouldLose
        /// More lines failed than may.
        case tooManyFailures
        /// A wait for the lock was broken off.
        case interrupted

        // Of a model, or a library.

        /// A file or folder, or what a hub is asked for, is not there or can't be read.
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

        // Of a hub, or the network.

        /// The name means no model.
        case badName
        /// The token is missing or lacks the right.
        case forbidden
        /// No answer, or none of use, also after some tries; an address that can't be had.
        case network
        /// The content is not what was promised.
        case damaged
        /// The network is needed and may not be used.
        case offline
    }

    public let kind: Kind
    /// A file as the user named it, `FILE:LINE`, a repository; nil where the message says it.
    public let place: String?
    package let text: Message
    public var message: String { text.text }
    /// The errno behind it, where there is one.
    public let code: Int32?

    /// - Parameter place: shown with escapes, like all values that are interpolated into the message.
    package init(_ kind: Kind, at place: String? = nil, _ message: Message, code: Int32? = nil) {
        (self.kind, self.place, text, self.code) = (kind, place, message, code)
    }

    /// - Parameter message: shown with escapes, line feeds included.
    @_disfavoredOverload
    package init(_ kind: Kind, at place: String? = nil, _ message: String) {
        self.init(kind, at: place, Message(value: message))
    }

    public var description: String { explanation.text }
}

extension UserError: ExplainedError {
    package var explanation: Message { place.map { "\($0): \(text)" } ?? text }
}
