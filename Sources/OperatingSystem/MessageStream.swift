import Errors
import FoundationShim
import JSON

/// Lines for people on a descriptor, mostly stderr. It may be a pipe that nobody reads at the moment, and a job
/// must not wait for that: information is left out then, and warnings and errors are kept until there is room.
///
/// The descriptor is shared with other programs, so it stays as it is: blocking.
package final class MessageStream: Sendable {
    package enum Weight: String, Sendable {
        /// Left out if the stream doesn't take it at once.
        case info
        /// Kept until there is room, in the end for a second.
        case warning
        /// Kept until there is room, in the end as long as it takes.
        case error
    }

    fileprivate struct State {
        let descriptor: Int32
        /// What is still to be written. Of the first some may be out already.
        var waiting: Queue<(bytes: ArraySlice<UInt8>, weight: Weight)> = []
        var leftOut = 0
        /// The name of the job whose lines these are, where they go to a log.
        var job: String?
        var form = LogForm.text
        /// Whether the last line is one that is drawn over.
        var isDrawn = false
    }

    private let state: Guarded<State>

    package init(descriptor: Int32) { state = Guarded(State(descriptor: descriptor)) }

    /// From now on each line has the time and the job's name, as in a log that several jobs share.
    package func log(for job: Message, as form: LogForm) {
        state.withLock { ($0.job, $0.form) = (job.text, form) }
    }

    /// A line that stays.
    /// - Parameters:
    ///   - job: which of several jobs says so.
    ///   - figures: what the message says in numbers; members of a line in JSON.
    package func line(
        _ message: Message, _ weight: Weight, of job: Message? = nil, figures: JSONObject = [:]
    ) {
        state.withLock { $0.line(message, weight, of: job, figures: figures) }
    }

    /// A line for programs, as it is; left out if the stream doesn't take it at once.
    package func object(_ json: String) {
        state.withLock { state in
            guard state.isReady else { return }
            state.waiting.append((Array((json + "\n").utf8)[...], .warning))
            state.flush(milliseconds: 0)
        }
    }

    /// A line that the next one replaces. For terminals only.
    package func draw(_ message: Message) {
        state.withLock { state in
            guard state.isReady else { return }
            state.waiting.append((Array("\r\(message.text)\u{1B}[K".utf8)[...], .info))
            state.flush(milliseconds: 0)
            state.isDrawn = true
        }
    }

    /// Writes what is still waiting. To be called once, at the end.
    package func finish() {
        state.withLock { state in
            let isLasting = state.waiting.contains { $0.weight == .error }
            state.flush(milliseconds: isLasting ? -1 : 1000)
            state.waiting = []
        }
    }
}

extension MessageStream.State {
    /// Whether the stream takes more at once, after what was waiting.
    var isReady: Bool {
        mutating get {
            flush(milliseconds: 0)
            return waiting.isEmpty && FileCalls.isReady(descriptor, milliseconds: 0)
        }
    }

    /// A line with its line feed.
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

    /// Writes as long as the stream takes it.
    mutating func flush(milliseconds: Int32) {
        while let first = waiting.first {
            // More than this, and a pipe that is ready could still make us wait.
            let part = first.bytes.prefix(FileCalls.pipeUnit)
            guard FileCalls.isReady(descriptor, milliseconds: milliseconds) else { return }
            switch part.withUnsafeBytes({ FileCalls.write(descriptor, $0) }) {
            case .later where milliseconds == 0: return
            case .later: continue
            // If nobody listens there any more, so be it.
            case .failed: waiting.removeFirst()
            case .bytes(let count):
                waiting[0].bytes = first.bytes.dropFirst(count)
                if waiting[0].bytes.isEmpty { waiting.removeFirst() }
            }
        }
    }
}

/// How the lines of a log look.
package enum LogForm: String, Sendable, CaseIterable {
    case text, json

    /// - Parameters:
    ///   - time: ISO 8601.
    ///   - figures: members after the message, in JSON only.
    package func line(
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
