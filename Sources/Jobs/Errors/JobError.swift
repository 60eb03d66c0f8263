import Errors

/// A fault in a job: in its file, in an option, or in the files it names.
///
/// `description` is one complete sentence or two, ready for a terminal.
public struct JobError: Error, Equatable, CustomStringConvertible {
    public enum Kind: Sendable {
        /// The job itself is wrong.
        case badJob
        /// An option on the command line is wrong.
        case usage
        /// A file that the job names is not there or can't be read.
        case missingInput
        /// The output's folder can't be written.
        case cannotWrite
        /// Reading or writing failed on the way.
        case inputOutput
    }

    public let kind: Kind
    /// Where: `job.yaml:3`, or a file's name.
    public let place: String?
    package let text: Message
    public var message: String { text.text }

    /// - Parameters:
    ///   - place: shown with escapes, like all values that are interpolated into the message.
    package init(_ kind: Kind, at place: String? = nil, _ message: Message) {
        self.kind = kind
        self.place = place
        text = message
    }

    /// - Parameter message: shown with escapes, line feeds included.
    @_disfavoredOverload
    package init(_ kind: Kind, at place: String? = nil, _ message: String) {
        self.init(kind, at: place, Message(value: message))
    }

    public var description: String { explanation.text }
}

extension JobError: Fault {}

/// What is wrong with one value; whoever knows the place makes a `JobError` of it.
struct SettingProblem: Error {
    let message: String
    /// The line of the value at fault, where it is not the setting's own (an element of a list).
    var line: Int?

    init(_ message: String, line: Int? = nil) {
        self.message = message
        self.line = line
    }
}
