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

    fileprivate struct Parts {
        var request: Int?
        var cancel: Int?
        var line: [UInt8]?
        var settings: [UInt8] = []
        var index = 0
        var streams = false
    }

    /// - Parameter bytes: a JSON object. The members `line` and `settings` are kept as written.
    /// - Throws: `Problem`.
    package init(_ bytes: [UInt8]) throws(Problem) {
        var parts = Parts()
        do {
            try bytes.withUnsafeBytes { text in
                try JSONScanner.scan(text, limits: .ownLine) { scanner in
                    try scanner.object { scanner, name in try parts.read(name, &scanner, text) }
                }
            }
        } catch let problem as Problem {
            throw problem
        } catch {
            throw Problem(request: parts.request, text: "The message is no JSON of a request: \(error).")
        }
        if let request = parts.cancel {
            self = .cancel(request)
        } else if let request = parts.request, let line = parts.line {
            self = .request(
                PipedLines.Line(request: request, index: parts.index, bytes: line, streams: parts.streams),
                settings: parts.settings)
        } else {
            throw Problem(
                request: parts.request, text: "A message has `request` and `line`, or `cancel`.")
        }
    }
}

extension PipeMessage.Parts {
    fileprivate mutating func read(
        _ name: UnsafeBufferPointer<UInt8>, _ scanner: inout JSONScanner, _ text: UnsafeRawBufferPointer
    ) throws {
        func object(_ scanner: inout JSONScanner, _ name: String) throws -> [UInt8] {
            guard try scanner.peek() == .object else {
                throw PipeMessage.Problem(request: request, text: "`\(name)` must be an object.")
            }
            let start = scanner.position
            try scanner.skip()
            return Array(text[start..<scanner.position])
        }
        if name.spells("request") {
            request = try scanner.integer()
        } else if name.spells("cancel") {
            cancel = try scanner.integer()
        } else if name.spells("index") {
            index = try scanner.integer()
            guard index >= 0 else { throw scanner.fault("`index` is counted from 0") }
        } else if name.spells("stream") {
            streams = try scanner.bool()
        } else if name.spells("line") {
            line = try object(&scanner, "line")
        } else if name.spells("settings") {
            settings = try object(&scanner, "settings")
        } else {
            let name = String(decoding: name.prefix(64), as: UTF8.self)
            throw PipeMessage.Problem(
                request: request,
                text:
                    "A message has no member `\(name)`; it has request, line, settings, index and stream, or cancel."
            )
        }
    }
}
