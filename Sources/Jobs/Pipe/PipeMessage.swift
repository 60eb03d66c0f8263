import Errors
import JSON

/// A caller's message in one line: a request, or a cancellation.
package enum PipeMessage {
    /// The version of the protocol between callers and the pipe.
    static let version = 1

    case request(PipedLines.Line, settings: [UInt8])
    case cancel(Int)
    /// An invalid message, with the request's number if it is known.
    case invalid(Int?, String)

    private static let names: Set = ["request", "cancel", "index", "stream", "line", "settings"]

    /// - Parameter bytes: a JSON object.
    package init(_ bytes: [UInt8]) {
        let message: JSONValue
        do throws(JSONFault) { message = try JSONValue(parsing: bytes, limits: .ownLine) } catch {
            self = .invalid(nil, "The message is no JSON of a request: \(error).")
            return
        }
        do throws(SettingProblem) { self = try Self.read(message) } catch {
            self = .invalid(message.int("request"), error.message)
        }
    }

    private static func read(_ message: JSONValue) throws(SettingProblem) -> PipeMessage {
        func known<Value>(
            _ name: String, _ right: String, _ read: (JSONValue) -> Value?
        ) throws(SettingProblem) -> Value? {
            guard let value = message[name] else { return nil }
            guard let known = read(value) else { throw SettingProblem("`\(name)` must be \(right).") }
            return known
        }
        func object(_ value: JSONValue) -> [UInt8]? {
            if case .object = value { Array(JSONWriter.text(of: value).utf8) } else { nil }
        }
        if case .object(let members) = message,
            let other = members.first(where: { !names.contains($0.name) })
        {
            throw SettingProblem(
                "A message has no member `\(other.name.prefix(64))`; it has request, line, settings, index and stream, or cancel."
            )
        }
        let line = try known("line", "an object", object)
        let settings = try known("settings", "an object", object)
        let index = try known("index", "a number, counted from 0") {
            $0.integer.flatMap { $0 < 0 ? nil : $0 }
        }
        let streams = try known("stream", "true or false") {
            if case .bool(let flag) = $0 { flag } else { nil }
        }
        if let cancelled = message.int("cancel") { return .cancel(cancelled) }
        guard let request = message.int("request"), let line else {
            throw SettingProblem("A message has `request` and `line`, or `cancel`.")
        }
        return .request(
            PipedLines.Line(request: request, index: index ?? 0, bytes: line, streams: streams ?? false),
            settings: settings ?? [])
    }
}
