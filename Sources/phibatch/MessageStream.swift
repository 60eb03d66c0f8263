import Errors
import FoundationShim
import JSON
import OperatingSystem

/// Lines for people on a descriptor, usually stderr. A job must not wait for a pipe that nobody reads: information is
/// then dropped, and warnings and errors are kept until there is room.
///
/// The descriptor is shared with other programs, so it stays blocking.
final class MessageStream: Sendable {
    enum Weight: String, Sendable {
        /// Dropped if the stream can't take it at once.
        case info
        /// Kept until there is room; at the end for up to a second.
        case warning
        /// Kept until there is room; at the end as long as it takes.
        case error
    }

    fileprivate struct PendingLines {
        let descriptor: Int32
        /// Lines not written yet. The first may be partly written.
        var waiting: Deque<(bytes: ArraySlice<UInt8>, weight: Weight)> = []
        var leftOut = 0
        /// Name of the job, for lines of a log.
        var job: String?
        var form = LogForm.text
        /// Whether the last line is a progress line to draw over.
        var isDrawn = false
    }

    private let state: Mutex<PendingLines>

    init(descriptor: Int32) { state = Mutex(PendingLines(descriptor: descriptor)) }

    /// From now on each line has the time and the job's name, for a log that several jobs share.
    func log(for job: Message, as form: LogForm) {
        state.withLock { ($0.job, $0.form) = (job.text, form) }
    }

    /// Writes a permanent line.
    /// - Parameters:
    ///   - job: name of the job, if there are several.
    ///   - figures: numbers of the message, which become members of a JSON line.
    func line(
        _ message: Message, _ weight: Weight, of job: Message? = nil, figures: JSONObject = [:]
    ) {
        state.withLock { $0.line(message, weight, of: job, figures: figures) }
    }

    /// Writes a line for programs; dropped if the stream can't take it at once.
    func object(_ json: String) {
        state.withLock { state in
            guard state.isReady else { return }
            state.waiting.append((Array((json + "\n").utf8)[...], .warning))
            state.flush(milliseconds: 0)
        }
    }

    /// Draws a line that the next one replaces. For terminals only.
    func draw(_ message: Message) {
        state.withLock { state in
            guard state.isReady else { return }
            state.waiting.append((Array("\r\(message.text)\u{1B}[K".utf8)[...], .info))
            state.flush(milliseconds: 0)
            state.isDrawn = true
        }
    }

    /// Writes everything that is waiting. Must be called once, at the end.
    func finish() {
        state.withLock { state in
            let isLasting = state.waiting.contains { $0.weight == .error }
            state.flush(milliseconds: isLasting ? -1 : 1000)
            state.waiting = []
        }
    }
}

extension MessageStream.PendingLines {
    /// Whether the stream can take more at once, after what was waiting.
    var isReady: Bool {
        mutating get {
            flush(milliseconds: 0)
            return waiting.isEmpty && FileCalls.isReady(descriptor, milliseconds: 0)
        }
    }

    /// Returns a line with its line feed.
    private func entry(
        _ message: String, _ weight: MessageStream.Weight, of one: Message? = nil, _ figures: JSONObject = [:]
    ) -> String {
        guard let job = job.map({ one?.text ?? $0 }) else {
            return "phibatch: \(one.map { "[\($0.text)] " } ?? "")\(message)\n"
        }
        let time = UTCTime(seconds: Int(Date().timeIntervalSince1970)).text
        return form.line(time: time, job: job, level: weight.rawValue, message: message, figures)
    }

    mutating func line(
        _ message: Message, _ weight: MessageStream.Weight, of job: Message?, figures: JSONObject
    ) {
        flush(milliseconds: 0)
        if weight == .info, !waiting.isEmpty || !FileCalls.isReady(descriptor, milliseconds: 0) {
            leftOut += 1
            return
        }
        var text = isDrawn ? "\r\u{1B}[K" : ""
        if leftOut > 0 {
            let what =
                leftOut == 1 ? "is left out here: nobody read it" : "are left out here: nobody read them"
            text += entry(
                "\(counted(leftOut, "line")) \(what)", .info, of: nil, ["left_out": .int(leftOut)])
        }
        text += entry(message.text, weight, of: job, figures)
        (isDrawn, leftOut) = (false, 0)
        waiting.append((Array(text.utf8)[...], weight))
        flush(milliseconds: 0)
    }

    /// Writes as much as the stream takes.
    mutating func flush(milliseconds: Int32) {
        while let first = waiting.first {
            // A larger write could block even on a ready pipe.
            let part = first.bytes.prefix(FileCalls.pipeUnit)
            guard FileCalls.isReady(descriptor, milliseconds: milliseconds) else { return }
            switch part.withUnsafeBytes({ FileCalls.write(descriptor, $0) }) {
            case .later where milliseconds == 0: return
            case .later: continue
            // If nobody reads there any more, give up.
            case .failed: waiting.removeFirst()
            case .bytes(let count):
                waiting[0].bytes = first.bytes.dropFirst(count)
                if waiting[0].bytes.isEmpty { waiting.removeFirst() }
            }
        }
    }
}

/// Form of a log's lines.
enum LogForm: String, Sendable, CaseIterable {
    case text, json

    /// - Parameters:
    ///   - time: ISO 8601.
    ///   - figures: further members, in JSON only.
    func line(
        time: String, job: String, level: String, message: String, _ figures: JSONObject = [:]
    ) -> String {
        switch self {
        case .text: return "\(time) phibatch[\(job)]: \(message)\n"
        case .json:
            let writer = JSONWriter.object { writer in
                writer.string("time", time)
                writer.string("job", job)
                writer.string("level", level)
                writer.string("message", message)
                for figure in figures {
                    writer.key(figure.name)
                    writer.value(figure.value)
                }
            }
            return writer.text + "\n"
        }
    }
}
