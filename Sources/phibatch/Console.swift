import Errors
import FoundationShim
import JSON
import Logging
import OperatingSystem

/// A line for stderr with its numbers, which a JSON log has as separate members.
struct LogLine {
    var message: Message
    let figures: JSONObject
    /// Whether the line is shown only in logs and with --verbose.
    var isDetail: Bool

    init(_ message: Message, _ figures: JSONObject = [:], isDetail: Bool = false) {
        (self.message, self.figures, self.isDetail) = (message, figures, isDetail)
    }
}

/// Everything that goes to stderr, except messages of signal handlers. On a terminal the last line may be a progress
/// line, which is redrawn.
final class Console: Sendable {
    let isQuiet: Bool
    let isTerminal: Bool
    /// Whether lines of details are written: to a log, and with --verbose.
    let isDetailed: Bool
    /// Whether fetches are reported as objects, for programs.
    private let reportsFetches: Bool
    /// Name of the job, if there are several.
    private let label: Message?
    private static let stream = MessageStream(descriptor: 2)

    /// - Parameters:
    ///   - job: the name of the job for lines of a log, which also have the time.
    ///   - form: of the log; nil is text if stderr is no terminal, else no log.
    ///   - progress: json reports fetches, too.
    init(
        isQuiet: Bool, isVerbose: Bool = false, job: Message? = nil, form: LogForm? = nil,
        progress: ProgressForm = .auto
    ) {
        self.isQuiet = isQuiet
        reportsFetches = progress == .json
        isDetailed = isVerbose || form != nil || isatty(2) == 0
        let isLog = form != nil || isatty(2) == 0
        if let job, isLog { Self.stream.log(for: job, as: form ?? .text) }
        label = nil
        isTerminal = form == nil && isatty(2) != 0 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
    }

    /// Creates the console of one of several jobs.
    init(_ other: Console, label: Message) {
        (isQuiet, isTerminal, isDetailed) = (other.isQuiet, other.isTerminal, other.isDetailed)
        reportsFetches = other.reportsFetches
        self.label = label
    }

    /// Writes a permanent line, unless quiet. Dropped if stderr is full and nobody reads it.
    func say(_ message: Message, _ figures: JSONObject = [:]) {
        if !isQuiet { Self.stream.line(message, .info, of: label, figures: figures) }
    }

    /// Without a hint, waiting for input at a terminal looks like hanging.
    func hint(atTerminalOf inputs: [String]) {
        guard inputs.contains("-"), Terminal.isTerminal(0) else { return }
        say("reading the terminal, a JSON object a line, such as {\"prompt\": \"Hello\"}; Ctrl-D ends it")
    }

    /// Writes a permanent warning.
    func warn(_ message: Message, _ figures: JSONObject = [:]) {
        Self.stream.line("warning: \(message)", .warning, of: label, figures: figures)
    }

    /// Writes a permanent error.
    func error(_ message: Message, _ figures: JSONObject = [:]) {
        Self.stream.line(message, .error, of: label, figures: figures)
    }

    /// Writes an object for a program that reads stderr.
    func report(_ object: String) { Self.stream.object(object) }

    /// Draws the progress line, on a terminal only.
    func progress(_ message: Message) {
        guard isTerminal, !isQuiet else { return }
        Self.stream.draw(Self.cut(message, columns: Terminal.size(2)?.columns ?? 80))
    }

    /// Reports the progress of a fetch: as the progress line, as an object, or as a line of a log if one is due.
    func progress(_ message: Message, isDue: Bool, done: Int, total: Int) {
        progress(message)
        if reportsFetches {
            let object = JSONWriter.object {
                $0.object("fetch") { writer in
                    writer.int("done", done)
                    writer.int("total", total)
                }
            }
            report(object.text)
        } else if !isTerminal, isDue {
            say(message, ["done": .int(done), "total": .int(total)])
        }
    }

    /// Cuts a message to a terminal's line, as a wrapped line can't be redrawn. The last column stays free, as some
    /// terminals wrap when it is written.
    static func cut(_ message: Message, columns: Int) -> Message {
        var cells = 0
        let fitting = message.text.prefix { character in
            // East Asian characters and emoji take two cells, and anything else might.
            cells += character.unicodeScalars.first.map { $0.value < 0x1100 } == true ? 1 : 2
            return cells < max(2, columns)
        }
        return message.prefix(fitting.count)
    }

    /// Reports an error that ends the program.
    static func report(_ error: any Error) { stream.line("\(error)", .error) }

    /// Waits until all errors are written. Must be called at the end.
    static func finish() { stream.finish() }
}

/// Sends swift-log's messages to the console. Each is escaped as one line.
struct ConsoleLogHandler: LogHandler {
    let console: Console
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]

    init(console: Console) { self.console = console }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let figures = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { name, value in
            let text = "\(value)"
            let number = Int(text).map { JSONValue.int($0) } ?? Double(text).map { .double($0) }
            return JSONMember(name: name, value: number ?? .string(text))
        }
        let message: Message = "\(event.message)"
        switch event.level {
        case .error, .critical: console.error(message, JSONObject(figures))
        case .warning: console.warn(message, JSONObject(figures))
        default: console.say(message, JSONObject(figures))
        }
    }
}
