import Errors
import FoundationShim
import JSON
import Logging
import OperatingSystem

/// A line for stderr, and what it says in numbers, which a log in JSON has as members of their own.
struct LogLine {
    var message: Message
    var figures: JSONObject = [:]
    /// Whether the line is shown in logs and with --verbose alone.
    var isDetail = false

    init(_ message: Message, _ figures: JSONObject = [:]) {
        (self.message, self.figures) = (message, figures)
    }
}

/// All that goes to stderr, except what a signal's handler has to say. On a terminal the last line may be a
/// progress line, which is drawn over.
final class Console: Sendable {
    let isQuiet: Bool
    let isTerminal: Bool
    /// Lines of details go out: to a log, and where they are asked for.
    let isDetailed: Bool
    /// Fetches show as objects, for programs.
    private let reportsFetches: Bool
    /// Name of the job that speaks, of several.
    private let label: Message?
    private static let stream = MessageStream(descriptor: 2)

    /// - Parameters:
    ///   - job: the name of the job, which lines have, and the time, where they go to a log.
    ///   - form: of the log; nil is text where stderr is no terminal, and none where it is.
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

    /// For one of several jobs.
    init(_ other: Console, label: Message) {
        (isQuiet, isTerminal, isDetailed) = (other.isQuiet, other.isTerminal, other.isDetailed)
        reportsFetches = other.reportsFetches
        self.label = label
    }

    /// A line that stays, unless quiet. Left out if nobody reads stderr and it is full.
    func say(_ message: Message, _ figures: JSONObject = [:]) {
        if !isQuiet { Self.stream.line(message, .info, of: label, figures: figures) }
    }

    /// Who names no input and sees nothing happen may take a program that waits for one that hangs.
    func hint(atTerminalOf inputs: [String]) {
        guard inputs.contains("-"), Platform.isTerminal(0) else { return }
        say("reading the terminal, a JSON object a line, such as {\"prompt\": \"Hello\"}; Ctrl-D ends it")
    }

    /// A line that stays.
    func warn(_ message: Message, _ figures: JSONObject = [:]) {
        Self.stream.line("warning: \(message)", .warning, of: label, figures: figures)
    }

    /// A line that stays.
    func error(_ message: Message, _ figures: JSONObject = [:]) {
        Self.stream.line(message, .error, of: label, figures: figures)
    }

    /// A line for a program that reads stderr.
    func report(_ object: String) { Self.stream.object(object) }

    /// Draws the progress line, on a terminal only.
    func progress(_ message: Message) {
        guard isTerminal, !isQuiet else { return }
        Self.stream.draw(Self.cut(message, columns: Platform.terminalSize(2)?.columns ?? 80))
    }

    /// Progress of a fetch: drawn, or an object for a program, or a line of a log if one is due.
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

    /// As much as fits in a terminal's line: one that wraps can't be drawn over. The last column stays free, as some
    /// terminals wrap when it is written.
    static func cut(_ message: Message, columns: Int) -> Message {
        var cells = 0
        let fitting = message.text.prefix { character in
            // East Asian characters and emoji take two cells; nothing else is sure of one.
            cells += character.unicodeScalars.first.map { $0.value < 0x1100 } == true ? 1 : 2
            return cells < max(2, columns)
        }
        return message.prefix(fitting.count)
    }

    /// An error that ends the program.
    static func report(_ error: any Error) { stream.line("\(error)", .error) }

    /// Waits until the errors are out. To be called at the end.
    static func finish() { stream.finish() }
}

/// Sends swift-log's messages to the console. A log message is one line: all of it counts as a value.
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
