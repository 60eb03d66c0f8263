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

    /// Opens a listening socket.
    /// - Parameters:
    ///   - port: 0 for any free one.
    ///   - onlyLoopback: whether only loopback addresses are allowed.
    /// - Returns: also the address with its port, as in a URL.
    /// - Throws: `UserError`.
    static func listening(
        _ host: String, port: Int, onlyLoopback: Bool
    ) throws(UserError) -> (descriptor: Int32, address: String, port: Int) {
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
        let number = name(of: address, entry.ai_addrlen).host
        guard !onlyLoopback || number.hasPrefix("127.") || number == "::1" else {
            throw UserError(
                .network, at: host,
                "is reached from other machines, which takes a key: --api-key-file FILE, or PHIBATCH_API_KEY in the environment."
            )
        }
        let descriptor = socket(entry.ai_family, stream, 0)
        var (yes, length) = (Int32(1), entry.ai_addrlen)
        guard descriptor >= 0,
            setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size)) == 0,
            fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0,
            fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK) == 0,
            bind(descriptor, address, length) == 0, listen(descriptor, 512) == 0,
            getsockname(descriptor, address, &length) == 0
        else {
            let reason = String(cString: strerror(errno))
            if descriptor >= 0 { close(descriptor) }
            throw UserError(.network, at: "\(host):\(port)", "can't be listened on: \(reason).")
        }
        let port = name(of: address, length).port
        return (descriptor, "\(number.contains(":") ? "[\(number)]" : number):\(port)", Int(port) ?? 0)
    }

    /// Returns an address and its port, in digits.
    private static func name(
        of address: UnsafeMutablePointer<sockaddr>, _ length: socklen_t
    ) -> (host: String, port: String) {
        var (host, port) = ([CChar](repeating: 0, count: 1025), [CChar](repeating: 0, count: 32))
        getnameinfo(address, length, &host, 1025, &port, 32, NI_NUMERICHOST | NI_NUMERICSERV)
        func text(_ name: [CChar]) -> String {
            String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
        return (text(host), text(port))
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
