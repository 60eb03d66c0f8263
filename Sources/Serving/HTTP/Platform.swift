import FoundationShim
import OperatingSystem
import PhiModel

/// System calls for sockets. Only files of this name make them.
enum Sockets {
    #if canImport(Glibc)
        private static let stream = Int32(SOCK_STREAM.rawValue)
    #else
        private static let stream = SOCK_STREAM
    #endif

    /// A listening socket.
    struct Listening {
        let descriptor: Int32
        /// Address with its port, as in a URL.
        let address: String
        let port: Int
    }

    /// - Parameters:
    ///   - port: 0 for any free one.
    ///   - onlyLoopback: whether only loopback addresses are allowed.
    /// - Throws: `UserError`.
    static func listening(_ host: String, port: Int, onlyLoopback: Bool) throws(UserError) -> Listening {
        var hints = addrinfo()
        hints.ai_socktype = stream
        hints.ai_flags = AI_PASSIVE
        var found: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, "\(port)", &hints, &found)
        guard code == 0, let entry = found?.pointee, let address = entry.ai_addr else {
            throw UserError(
                .network, at: host, "is no address of this machine: \(String(cString: gai_strerror(code))).")
        }
        defer { freeaddrinfo(found) }
        let text = Self.text(of: address, entry.ai_addrlen)
        guard !onlyLoopback || text.hasPrefix("127.") || text == "::1" else {
            throw UserError(
                .network, at: host,
                "is reached from other machines, which takes a key: --api-key-file FILE, or PHIBATCH_API_KEY in the environment."
            )
        }
        let descriptor = socket(entry.ai_family, stream, 0)
        func refused() -> UserError {
            let reason = String(cString: strerror(errno))
            if descriptor >= 0 { close(descriptor) }
            return UserError(.network, at: "\(host):\(port)", "can't be listened on: \(reason).")
        }
        guard descriptor >= 0 else { throw refused() }
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        guard bind(descriptor, address, entry.ai_addrlen) == 0, listen(descriptor, 512) == 0 else {
            throw refused()
        }
        let port = Self.port(of: descriptor)
        return Listening(
            descriptor: descriptor, address: text.contains(":") ? "[\(text)]:\(port)" : "\(text):\(port)",
            port: port)
    }

    private static func text(of address: UnsafeMutablePointer<sockaddr>, _ length: socklen_t) -> String {
        var text = [CChar](repeating: 0, count: 1025)
        getnameinfo(address, length, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
        return text.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
    }

    /// The third and fourth byte of either kind of address.
    private static func port(of descriptor: Int32) -> Int {
        withUnsafeTemporaryAllocation(byteCount: 128, alignment: 16) { bytes in
            var length = socklen_t(bytes.count)
            guard let address = bytes.baseAddress,
                getsockname(descriptor, address.assumingMemoryBound(to: sockaddr.self), &length) == 0
            else { return 0 }
            return Int(bytes[2]) << 8 | Int(bytes[3])
        }
    }

    /// Sends small pieces at once, and detects a dead peer after two minutes.
    static func prepare(_ descriptor: Int32) {
        #if canImport(Darwin)
            let idle = TCP_KEEPALIVE
        #else
            let idle = TCP_KEEPIDLE
        #endif
        let options = [
            (Int32(IPPROTO_TCP), TCP_NODELAY, Int32(1)), (SOL_SOCKET, SO_KEEPALIVE, 1),
            (Int32(IPPROTO_TCP), idle, 60),
            (Int32(IPPROTO_TCP), TCP_KEEPINTVL, 15), (Int32(IPPROTO_TCP), TCP_KEEPCNT, 4),
        ]
        for (level, name, value) in options {
            var value = value
            setsockopt(descriptor, level, name, &value, socklen_t(MemoryLayout<Int32>.size))
        }
    }

    /// Whether the peer sends nothing more.
    static func isGone(_ descriptor: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: 0, revents: 0)
        if poll(&entry, 1, 0) > 0, entry.revents & Int16(POLLERR | POLLHUP) != 0 { return true }
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) == 0
    }

    /// Ends a connection, which its owner then closes.
    static func end(_ descriptor: Int32) { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }

    static func shut(_ descriptor: Int32) { _ = close(descriptor) }

    /// Opens a file, and returns its size; nil if there is none.
    static func file(_ path: String) -> (descriptor: Int32, size: Int)? {
        let descriptor = open(path.cPath, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0, let size = (try? FileInfo(of: descriptor))?.size else { return nil }
        return (descriptor, size)
    }

    /// Allows the process as many open files as connections and jobs need, if possible.
    static func allowDescriptors(_ count: Int) {
        var limit = rlimit()
        #if canImport(Glibc)
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
            let resource = RLIMIT_NOFILE
        #endif
        guard getrlimit(resource, &limit) == 0, limit.rlim_cur < rlim_t(count) else { return }
        limit.rlim_cur = min(rlim_t(count), limit.rlim_max)
        setrlimit(resource, &limit)
    }
}
