import Foundation
import Foundations
import Logging

/// All that goes to stderr. On a terminal the last line may be a progress line, which is drawn over.
final class Console: @unchecked Sendable {
    let isQuiet: Bool
    let isTerminal: Bool
    private let lock = NSLock()
    /// Guarded by `lock`.
    private var progressShown = false

    init(isQuiet: Bool) {
        self.isQuiet = isQuiet
        isTerminal = isatty(2) != 0 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
    }

    /// A line that stays, unless quiet.
    func say(_ text: String) {
        if !isQuiet { write(text) }
    }

    /// A line that stays.
    func error(_ text: String) { write(text) }

    /// Draws the progress line, on a terminal only.
    func progress(_ text: String) {
        guard isTerminal, !isQuiet else { return }
        lock.withLock {
            Self.writeError("\r" + text + "\u{1B}[K")
            progressShown = true
        }
    }

    private func write(_ text: String) {
        lock.withLock {
            Self.writeError((progressShown ? "\r\u{1B}[K" : "") + "phibatch: " + text + "\n")
            progressShown = false
        }
    }

    /// Writes to stderr; if nobody listens there, so be it.
    static func writeError(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data(text.showingBytes.utf8))
    }
}

/// Sends swift-log's messages to the console.
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
        switch event.level {
        case .error, .critical: console.error("\(event.message)")
        case .warning: console.error("warning: \(event.message)")
        default: console.say("\(event.message)")
        }
    }
}
