import CHTTP
import FoundationShim
import OperatingSystem
import PhiModel

/// An HTTP/1.1 server: one thread for all connections, and one that watches them.
final class HTTPServer: Sendable {
    /// Bytes of all bodies together.
    static let bodyRoom = 256 << 20

    /// State of a connection.
    private struct Link {
        /// Time at which it is closed, unless something happens before.
        var deadline: ContinuousClock.Instant?
        var exchange: Exchange?
    }

    private struct Connections {
        var daemon: HTTPLibrary.Object?
        var links: [Int32: Link] = [:]
        var isRefusing = false
        var isStopping = false
    }

    let service: APIService
    let bodies = Mutex(0)
    private let library: HTTPLibrary
    private var options: ServerOptions { service.options }
    private let state = Mutex(Connections())

    /// Answers from now on.
    /// - Parameter descriptor: a listening socket's.
    /// - Throws: `UserError`, also if no thread can be created.
    init(_ service: APIService, on descriptor: Int32) throws {
        self.service = service
        library = try HTTPLibrary.load()
        Sockets.allowDescriptors(service.options.connections + 512)
        try start(on: descriptor)
        try WorkerThread.startOrExplain("connections") { [self] in
            while watch() { WorkerThread.sleep(seconds: 0.25) }
        }
    }

    private func start(on descriptor: Int32) throws {
        let completed: PhiHttpCompleted = { context, _, request, how in
            guard let request, let pointer = request.pointee else { return }
            request.pointee = nil
            let exchange = Unmanaged<Exchange>.fromOpaque(pointer).takeRetainedValue()
            exchange.completed(isOut: how == PHI_HTTP_COMPLETED_OK)
            HTTPServer.of(context)?.note(exchange.descriptor) { $0.exchange = nil }
        }
        let connected: PhiHttpConnected = { context, connection, _, what in
            guard let connection else { return }
            HTTPServer.of(context)?.connection(connection, isOpen: what == PHI_HTTP_OPENED)
        }
        let context = Unmanaged.passRetained(self).toOpaque()
        let options = [
            PhiHttpOption(name: PHI_HTTP_CONNECTION_MEMORY, value: options.head, pointer: nil),
            PhiHttpOption(name: PHI_HTTP_CONNECTIONS, value: options.connections, pointer: nil),
            PhiHttpOption(name: PHI_HTTP_TIMEOUT, value: options.patience, pointer: nil),
            PhiHttpOption(name: PHI_HTTP_LISTEN_SOCKET, value: Int(descriptor), pointer: nil),
            PhiHttpOption(name: PHI_HTTP_COMPLETED, value: phi_http_completed(completed), pointer: context),
            PhiHttpOption(name: PHI_HTTP_CONNECTED, value: phi_http_connected(connected), pointer: context),
            PhiHttpOption(name: PHI_HTTP_END, value: 0, pointer: nil),
        ]
        let daemon = phi_http_start(
            library.start,
            { context, connection, path, method, _, bytes, count, request in
                guard let server = HTTPServer.of(context), let connection, let path, let method, let count,
                    let request
                else { return PHI_HTTP_NO }
                guard let known = request.pointee else {
                    return server.begin(
                        connection, String(cString: path), String(cString: method), request)
                }
                let exchange = Unmanaged<Exchange>.fromOpaque(known).takeUnretainedValue()
                guard count.pointee > 0 else { return exchange.proceed(on: connection) }
                let goesOn = exchange.take(UnsafeRawBufferPointer(start: bytes, count: count.pointee))
                server.note(exchange.descriptor) { [taken = count.pointee] in
                    $0.deadline = $0.deadline?.advanced(by: .milliseconds(taken / 50))
                }
                count.pointee = 0
                return goesOn ? PHI_HTTP_YES : PHI_HTTP_NO
            }, context, options)
        guard let daemon else {
            Unmanaged<HTTPServer>.fromOpaque(context).release()
            Sockets.shut(descriptor)
            throw UserError(.missing, at: "libmicrohttpd", "it does not start on this machine.")
        }
        state.withLock { [daemon = HTTPLibrary.Object(handle: daemon)] in $0.daemon = daemon }
    }

    private static func of(_ context: UnsafeMutableRawPointer?) -> HTTPServer? {
        context.map { Unmanaged<HTTPServer>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Number of connections.
    var connections: Int { state.withLock(\.links.count) }

    /// Refuses new connections and requests. Earlier requests are answered.
    func refuse() {
        let daemon = state.withLock { state in
            defer { state.isRefusing = true }
            return state.isRefusing ? nil : state.daemon
        }
        if let daemon { Sockets.shut(library.quiesce(daemon.handle)) }
    }

    /// Refuses new connections, waits until existing answers are sent, and ends.
    func stop(atMost seconds: Double) {
        refuse()
        let daemon = state.withLock { state in
            defer { state.isStopping = true }
            return state.isStopping ? nil : state.daemon
        }
        guard let daemon else { return }
        let end = ContinuousClock.now + .seconds(seconds)
        while .now < end, state.withLock({ $0.links.values.contains { $0.exchange != nil } }) {
            WorkerThread.sleep(seconds: 0.01)
        }
        for exchange in state.withLock({ $0.links.values.compactMap(\.exchange) }) { exchange.lose() }
        library.stop(daemon.handle)
        state.withLock { $0.daemon = nil }
        Unmanaged.passUnretained(self).release()
    }

    // MARK: The server's thread

    private func connection(_ connection: HTTPLibrary.Handle, isOpen: Bool) {
        let descriptor = phi_http_descriptor(library.info, connection)
        if isOpen { Sockets.prepare(descriptor) }
        let link = isOpen ? Link(deadline: deadline(times: 2)) : nil
        state.withLock { $0.links[descriptor] = link }
    }

    private func begin(
        _ connection: HTTPLibrary.Handle, _ path: String, _ method: String,
        _ request: UnsafeMutablePointer<UnsafeMutableRawPointer?>
    ) -> Int32 {
        func fields(_ kind: Int32) -> [HTTPHead.Field] {
            var found: [HTTPHead.Field] = []
            withUnsafeMutablePointer(to: &found) { found in
                _ = library.each(
                    connection, kind,
                    { context, _, name, value in
                        guard let context, let name else { return PHI_HTTP_NO }
                        context.assumingMemoryBound(to: [HTTPHead.Field].self).pointee.append(
                            (String(cString: name), value.map { String(cString: $0) }))
                        return PHI_HTTP_YES
                    }, found)
            }
            return found
        }
        let head = HTTPHead(
            method, path, headers: fields(PHI_HTTP_HEADER), arguments: fields(PHI_HTTP_ARGUMENT))
        let body =
            state.withLock(\.isRefusing) ? HTTPBody(limit: .max, refusal: .full) : service.begin(head)
        let exchange = Exchange(self, library, connection, head, body)
        request.pointee = Unmanaged.passRetained(exchange).toOpaque()
        let end = deadline(times: 2)
        note(exchange.descriptor) { ($0.exchange, $0.deadline) = (exchange, end) }
        if !head.isClear { return exchange.refuse(.unclear, on: connection) }
        // Nobody reads that much to discard it.
        if let length = head.headers["content-length"].flatMap({ Int($0) }), length > body.limit {
            return exchange.refuse(.tooLarge(body.limit), on: connection)
        }
        return PHI_HTTP_YES
    }

    /// Sets the number of bytes that a client still has to take; nil while it waits for more.
    func expect(_ bytes: Int?, to exchange: Exchange) {
        let end = bytes.map { deadline(times: 1).advanced(by: .milliseconds($0 / 50)) }
        note(exchange.descriptor) { if $0.exchange === exchange { $0.deadline = end } }
    }

    private func deadline(times: Int) -> ContinuousClock.Instant { .now + .seconds(times * options.patience) }

    private func note(_ descriptor: Int32, _ body: (inout Link) -> Void) {
        state.withLock { state in
            guard var link = state.links[descriptor] else { return }
            body(&link)
            // Between two requests.
            if link.exchange == nil { link.deadline = deadline(times: 2) }
            state.links[descriptor] = link
        }
    }

    // MARK: The thread that looks after connections

    /// Closes connections that take too long, and detects clients that disconnect while they wait: those that send
    /// nothing more.
    /// - Returns: false once the server has ended.
    private func watch() -> Bool {
        let (lost, isOver) = state.withLock { state in
            let lost = state.links.compactMap { descriptor, link -> Exchange? in
                guard let deadline = link.deadline else {
                    return Sockets.isGone(descriptor) ? link.exchange : nil
                }
                guard deadline < .now else { return nil }
                Sockets.end(descriptor)
                return link.exchange
            }
            return (lost, state.isStopping)
        }
        for exchange in lost { exchange.lose() }
        return !isOver
    }
}
