import Errors

/// A fault in a job: in its file, in an option, or in a file that it names.
///
/// `description` is one or two complete sentences for a terminal.
public struct JobError: Error, Equatable, CustomStringConvertible {
    public enum Kind: Sendable {
        /// The job itself is wrong.
        case badJob
        /// An option on the command line is wrong.
        case usage
        /// A file of the job doesn't exist or can't be read.
        case missingInput
        /// The output's folder can't be written.
        case cannotWrite
        /// Reading or writing failed during the run.
        case inputOutput
    }

    public let kind: Kind
    /// Place of the fault: `job.yaml:3`, or a file's name.
    public let place: String?
    package let text: Message
    public var message: String { text.text }

    /// - Parameters:
    ///   - place: shown escaped, like all values interpolated into the message.
    package init(_ kind: Kind, at place: String? = nil, _ message: Message) {
        self.kind = kind
        self.place = place
        text = message
    }

    /// - Parameter message: shown escaped, line feeds included.
    @_disfavoredOverload
    package init(_ kind: Kind, at place: String? = nil, _ message: String) {
        self.init(kind, at: place, Message(value: message))
    }

    public var description: String { explanation.text }
}

extension JobError: Fault {}

/// Problem with one value; a caller that knows the place makes a `JobError` of it.
struct SettingProblem: Error {
    let message: String
    /// Line of the value at fault, if it is not the setting's own (an element of a list).
    var line: Int?

    init(_ message: String, line: Int? = nil) {
        self.message = message
        self.line = line
    }
}
