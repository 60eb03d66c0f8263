import Errors
import JSON

/// A caller's message in one line: a request, or a cancellation.
package enum PipeMessage {
    /// The version of the protocol between callers and the pipe.
    static let version = 1

    case request(PipedLines.Line, settings: [UInt8])
    case cancel(Int)

    /// An error in a message, with the request's number if it is known.
    package struct Problem: Error {
        var request: Int?
        var text: String

        package init(request: Int? = nil, text: String) {
            (self.request, self.text) = (request, text)
        }
    }

    private static let names: Set = ["request", "cancel", "index", "stream", "line", "settings"]

    /// - Parameter bytes: a JSON object.
    /// - Throws: `Problem`.
    package init(_ bytes: [UInt8]) throws(Problem) {
        let message: JSONValue
        do throws(JSONFault) { message = try JSONValue(parsing: bytes, limits: .ownLine) } catch {
            throw Problem(text: "The message is no JSON of a request: \(error).")
        }
        let request = message.int("request")
        func object(_ name: String) throws(Problem) -> [UInt8]? {
            guard let value = message[name] else { return nil }
            guard case .object = value else {
                throw Problem(request: request, text: "`\(name)` must be an object.")
            }
            return Array(JSONWriter.text(of: value).utf8)
        }
        func known<Value>(_ name: String, _ right: String, _ read: (JSONValue) -> Value?) throws(Problem)
            -> Value?
        {
            guard let value = message[name] else { return nil }
            guard let known = read(value) else {
                throw Problem(request: request, text: "`\(name)` must be \(right).")
            }
            return known
        }
        if case .object(let members) = message,
            let other = members.first(where: { !Self.names.contains($0.name) })
        {
            throw Problem(
                request: request,
                text:
                    "A message has no member `\(other.name.prefix(64))`; it has request, line, settings, index and stream, or cancel."
            )
        }
        let (line, settings) = (try object("line"), try object("settings"))
        let index = try known("index", "a number, counted from 0") {
            $0.integer.flatMap { $0 < 0 ? nil : $0 }
        }
        let streams = try known("stream", "true or false") {
            if case .bool(let flag) = $0 { flag } else { nil }
        }
        if let cancelled = message.int("cancel") {
            self = .cancel(cancelled)
        } else if let request, let line {
            self = .request(
                PipedLines.Line(request: request, index: index ?? 0, bytes: line, streams: streams ?? false),
                settings: settings ?? [])
        } else {
            throw Problem(request: request, text: "A message has `request` and `line`, or `cancel`.")
        }
    }
}
