import Dispatch
import OperatingSystem

/// An HTTP server on this machine's loopback address, at a port of its own, with a thread for each connection.
final class TestServer: Sendable {
    struct Request: Sendable {
        var method: String
        /// As it stands in the request: a whole address if this server is a proxy.
        var path: String
        /// Names in small letters.
        var headers: [String: String]
    }

    struct Answer: Sendable {
        enum Body: Sendable {
            case whole
            /// So many bytes of it, then the connection ends.
            case cut(Int)
            /// So many bytes of it, and nothing more.
            case silent(after: Int)
            /// A byte at a time, for ever slowly.
            case trickle
            /// So is the head.
            case trickledHead
            /// In chunks, without a length.
            case chunked
            /// As HTTP 1.0 had it: it ends with the connection, and there is no length.
            case untilClosed
        }

        var status = 200
        var headers: [(String, String)] = []
        var body: [UInt8] = []
        var way = Body.whole
    }

    private struct State {
        var requests: [Request] = []
        var connections: Set<Int32> = []
        var isStopped = false
    }

    let port: Int
    private let listener: Int32
    private let answer: @Sendable (Request) -> Answer
    private let state = Mutex(State())
    private let hasEnded = DispatchSemaphore(value: 0)

    /// All requests so far.
    var requests: [Request] { state.withLock { $0.requests } }
    var address: String { "http://127.0.0.1:\(port)" }

    init(answer: @escaping @Sendable (Request) -> Answer) throws {
        (listener, port) = try Sockets.listen()
        self.answer = answer
        try WorkerThread.start("test server") { [self] in
            accept()
            Sockets.close(listener)
            hasEnded.signal()
        }
    }

    /// Nobody can connect after this.
    func stop() {
        let isFirst = state.withLock { state in
            defer { state.isStopped = true }
            for connection in state.connections { Sockets.end(connection) }
            return !state.isStopped
        }
        guard isFirst else { return }
        // It waits for a connection.
        if let last = try? Sockets.connect(port: port) { Sockets.close(last) }
        hasEnded.wait()
    }

    private func accept() {
        while let connection = Sockets.accept(listener) {
            let goesOn = state.withLock { state in
                if !state.isStopped { state.connections.insert(connection) }
                return !state.isStopped
            }
            let isStarted =
                goesOn
                && (try? WorkerThread.start("test connection") { [self] in serve(connection) }) != nil
            if !isStarted { Sockets.close(connection) }
            if !goesOn { return }
        }
    }

    private func serve(_ connection: Int32) {
        var bytes: [UInt8] = []
        while let request = Self.nextRequest(connection, &bytes) {
            state.withLock { $0.requests.append(request) }
            guard send(answer(request), to: request, connection) else { break }
        }
        _ = state.withLock { $0.connections.remove(connection) }
        Sockets.close(connection)
    }

    /// - Parameter bytes: what has come and is not read yet.
    private static func nextRequest(_ connection: Int32, _ bytes: inout [UInt8]) -> Request? {
        let end = Array("\r\n\r\n".utf8)
        while true {
            if let range = bytes.firstRange(of: end) {
                let lines = String(decoding: bytes[..<range.lowerBound], as: UTF8.self).split(
                    separator: "\r\n")
                bytes.removeSubrange(..<range.upperBound)
                let words = lines[0].split(separator: " ")
                var headers: [String: String] = [:]
                for line in lines.dropFirst() {
                    let parts = line.split(separator: ": ", maxSplits: 1)
                    headers[parts[0].lowercased()] = parts.count == 2 ? String(parts[1]) : ""
                }
                return Request(method: String(words[0]), path: String(words[1]), headers: headers)
            }
            let more = Sockets.receive(connection)
            if more.isEmpty { return nil }
            bytes += more
        }
    }

    /// - Returns: whether the connection can go on.
    private func send(_ answer: Answer, to request: Request, _ connection: Int32) -> Bool {
        var head = "HTTP/1.1 \(answer.status) Status\r\n"
        for (name, value) in answer.headers { head += "\(name): \(value)\r\n" }
        let hasLength = answer.headers.contains { $0.0 == "Content-Length" }
        switch answer.way {
        case .chunked: head += "Transfer-Encoding: chunked\r\n"
        case .untilClosed: head = head.replacing("HTTP/1.1", with: "HTTP/1.0")
        default: if !hasLength { head += "Content-Length: \(answer.body.count)\r\n" }
        }
        let bytes = Array((head + "\r\n").utf8)
        if case .trickledHead = answer.way { return trickle(bytes, connection) }
        guard Sockets.send(connection, bytes) else { return false }
        guard request.method != "HEAD" else { return true }
        switch answer.way {
        case .whole: return Sockets.send(connection, answer.body)
        case .cut(let count):
            _ = Sockets.send(connection, answer.body.prefix(count))
            return false
        case .silent(let count): return Sockets.send(connection, answer.body.prefix(count))
        case .trickle, .trickledHead: return trickle(answer.body, connection)
        case .chunked:
            for start in stride(from: 0, to: answer.body.count, by: 10_000) {
                let chunk = answer.body[start...].prefix(10_000)
                let size = Array((String(chunk.count, radix: 16) + "\r\n").utf8)
                guard Sockets.send(connection, size + chunk + Array("\r\n".utf8)) else { return false }
            }
            return Sockets.send(connection, Array("0\r\n\r\n".utf8))
        case .untilClosed:
            _ = Sockets.send(connection, answer.body)
            return false
        }
    }

    private func trickle(_ bytes: [UInt8], _ connection: Int32) -> Bool {
        for byte in bytes {
            guard Sockets.send(connection, [byte]), !state.withLock({ $0.isStopped }) else { return false }
            Sockets.rest(milliseconds: 20)
        }
        return true
    }
}
