import CHTTP
import FoundationShim
import OperatingSystem

/// Decision about a request's body.
struct HTTPBody {
    /// In bytes.
    var limit: Int
    /// Takes the fields of a form as they arrive.
    var form: Upload?
    /// Reply in place of a body that is not accepted.
    var refusal: HTTPReply?
}

/// A request and its answer, which may come from any thread, at once or later. Until then the connection waits, without
/// a thread.
final class Exchange: Sendable {
    private struct ReplyState {
        /// Nil once the exchange is over.
        var connection: HTTPLibrary.Object?
        var formReader: HTTPLibrary.Object?
        var formBytes = 0
        var body: [UInt8] = []
        var counted = 0
        var isHandedOver = false
        var isSuspended = false
        var reply: HTTPReply?
        /// Bytes of a stream that are still to be sent.
        var unsent: ArraySlice<UInt8> = []
        var isEnded = false
        /// Whether the client has disconnected or is too slow.
        var isLost = false
        var whenLost: (@Sendable () -> Void)?
    }

    let head: HTTPHead
    let descriptor: Int32
    let server: HTTPServer
    private let library: HTTPLibrary
    private let limit: Int
    let form: Upload?
    private let state: Mutex<ReplyState>

    init(
        _ server: HTTPServer, _ library: HTTPLibrary, _ connection: HTTPLibrary.Handle, _ head: HTTPHead,
        _ body: HTTPBody
    ) {
        (self.server, self.library, self.head) = (server, library, head)
        descriptor = phi_http_descriptor(library.info, connection)
        (limit, form) = (body.limit, body.form)
        state = Mutex(ReplyState(connection: .init(handle: connection), reply: body.refusal))
    }

    deinit { server.bodies.withLock { [counted = state.withLock(\.counted)] in $0 -= counted } }

    // MARK: For the answering side, on any thread

    /// Takes the body, owned by the caller.
    func takeBody() -> [UInt8] {
        state.withLock { state in
            defer { state.body = [] }
            return state.body
        }
    }

    /// Sends the answer; only the first counts.
    func answer(_ reply: HTTPReply) {
        state.withLock { state in
            guard state.reply == nil else { return }
            state.reply = reply
            wake(&state)
        }
    }

    /// Adds bytes to a stream that `answer` has begun. Never waits for the client.
    func send(_ bytes: [UInt8]) {
        state.withLock { state in
            guard !state.isLost, !state.isEnded else { return }
            state.unsent += bytes
            wake(&state)
        }
    }

    /// Ends a stream.
    func end() {
        let left = state.withLock { state in
            state.isEnded = true
            wake(&state)
            return state.unsent.count
        }
        server.expect(left, to: self)
    }

    /// - Parameter action: called once if the client disconnects before it has the answer.
    func whenLost(_ action: @escaping @Sendable () -> Void) {
        let isLost = state.withLock { state in
            if !state.isLost { state.whenLost = action }
            return state.isLost
        }
        if isLost { action() }
    }

    // MARK: The server's side

    /// Records that nobody waits for the answer any more.
    func lose() {
        state.withLock { state in
            state.isLost = true
            wake(&state)
        }
    }

    private func wake(_ state: inout ReplyState) {
        guard state.isSuspended, let connection = state.connection else { return }
        state.isSuspended = false
        library.resume(connection.handle)
    }

    /// Sends a reply without a body and closes the connection.
    func refuse(_ reply: HTTPReply, on connection: HTTPLibrary.Handle) -> Int32 {
        var reply = reply
        reply.headers.append(("Connection", "close"))
        state.withLock { [reply] in $0.reply = reply }
        return queue(reply, on: connection)
    }

    /// Takes more of the body.
    /// - Returns: false if the connection is useless.
    func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        state.withLock { state in
            guard state.reply == nil, !state.isLost else { return !state.isLost }
            if form != nil { return takeForm(bytes, &state) }
            let isTooLarge = state.body.count + bytes.count > limit
            let fits = server.bodies.withLock { total in
                guard !isTooLarge, total + bytes.count <= HTTPServer.bodyRoom else { return false }
                total += bytes.count
                return true
            }
            if fits {
                state.counted += bytes.count
                state.body += bytes
            } else {
                state.body = []
                state.reply = isTooLarge ? .tooLarge(limit) : .full
            }
            return true
        }
    }

    private func takeForm(_ bytes: UnsafeRawBufferPointer, _ state: inout ReplyState) -> Bool {
        guard let connection = state.connection else { return false }
        state.formBytes += bytes.count
        guard state.formBytes <= limit else { return false }
        if state.formReader == nil {
            state.formReader = library.makeForm(
                connection.handle, 64 << 10,
                { context, _, name, file, _, _, bytes, offset, count in
                    guard let context, let name else { return PHI_HTTP_NO }
                    let form = Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue().form
                    let wants = form?.take(
                        UnsafeRawBufferPointer(start: bytes, count: count), of: String(cString: name),
                        file: file.map { String(cString: $0) }, isFirst: offset == 0)
                    return wants == true ? PHI_HTTP_YES : PHI_HTTP_NO
                }, Unmanaged.passUnretained(self).toOpaque()
            ).map { .init(handle: $0) }
        }
        // An error of the form shows when its result is read.
        guard let reader = state.formReader else { return true }
        _ = library.readForm(
            reader.handle, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
        return true
    }

    private func endForm(_ state: inout ReplyState) {
        if let reader = state.formReader { _ = library.endForm(reader.handle) }
        state.formReader = nil
    }

    /// Continues after the whole body, or when the connection resumes.
    func proceed(on connection: HTTPLibrary.Handle) -> Int32 {
        let (reply, isLost, isNew) = state.withLock { state -> (HTTPReply?, Bool, Bool) in
            defer { state.isHandedOver = true }
            endForm(&state)
            if state.reply == nil, !state.isLost {
                library.suspend(connection)
                state.isSuspended = true
            }
            return (state.reply, state.isLost, !state.isHandedOver)
        }
        if isLost { return PHI_HTTP_NO }
        if let reply { return queue(reply, on: connection) }
        server.expect(nil, to: self)
        if isNew { server.service.answer(self) }
        return PHI_HTTP_YES
    }

    private func queue(_ reply: HTTPReply, on connection: HTTPLibrary.Handle) -> Int32 {
        guard let response = response(reply) else { return PHI_HTTP_NO }
        defer { library.letGo(response) }
        for (name, value) in [("Content-Type", reply.type)] + reply.headers.map({ ($0.name, $0.value) }) {
            _ = library.addHeader(response, name, value)
        }
        return library.queue(connection, UInt32(reply.status), response)
    }

    private func response(_ reply: HTTPReply) -> HTTPLibrary.Handle? {
        switch reply.content {
        case .bytes(let bytes):
            server.expect(bytes.count, to: self)
            return bytes.withUnsafeBytes {
                library.makeBytes($0.count, $0.baseAddress, PHI_HTTP_COPY)
            }
        case .file(let path):
            guard let file = Sockets.file(path) else { return nil }
            server.expect(file.size, to: self)
            return library.makeFile(UInt64(file.size), file.descriptor)
        case .stream:
            let read: PhiHttpReader = { context, _, bytes, room in
                guard let context, let bytes else { return PHI_HTTP_END_WITH_ERROR }
                return Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue()
                    .read(into: UnsafeMutableRawBufferPointer(start: bytes, count: room))
            }
            let context = Unmanaged.passRetained(self).toOpaque()
            return library.makeStream(PHI_HTTP_SIZE_UNKNOWN, 16 << 10, read, context) { context in
                if let context { Unmanaged<Exchange>.fromOpaque(context).release() }
            }
        }
    }

    /// Returns the next bytes of a stream; 0 if the connection waits for some.
    private func read(into room: UnsafeMutableRawBufferPointer) -> Int {
        state.withLock { state in
            if state.isLost { return PHI_HTTP_END_WITH_ERROR }
            if !state.unsent.isEmpty {
                let next = state.unsent.prefix(room.count)
                next.withUnsafeBytes { room.copyMemory(from: $0) }
                state.unsent = state.unsent.dropFirst(next.count)
                return next.count
            }
            if state.isEnded { return PHI_HTTP_END_OF_STREAM }
            if let connection = state.connection {
                library.suspend(connection.handle)
                state.isSuspended = true
            }
            return 0
        }
    }

    /// Ends the exchange, with the answer sent or not.
    func completed(isOut: Bool) {
        let action = state.withLock { state -> (@Sendable () -> Void)? in
            defer { (state.connection, state.isLost, state.whenLost) = (nil, true, nil) }
            endForm(&state)
            return isOut ? nil : state.whenLost
        }
        action?()
    }
}
