import FoundationShim

/// System calls for `MessageStream`, `Files` and `MemoryRoom`.
enum FileCalls {
    /// Bytes that a ready pipe takes without blocking.
    static let pipeUnit = Int(PIPE_BUF)

    /// Whether `descriptor` accepts bytes now, or fails now.
    /// - Parameter milliseconds: time to wait; unlimited if negative.
    static func isReady(_ descriptor: Int32, milliseconds: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        while true {
            let found = poll(&entry, 1, milliseconds)
            if found >= 0 { return found > 0 }
            if errno != EINTR { return true }
        }
    }

    enum Written {
        case bytes(Int)
        /// The descriptor is non-blocking and full.
        case later
        case failed
    }

    static func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Written {
        while true {
            #if canImport(Darwin)
                let count = Darwin.write(descriptor, bytes.baseAddress, bytes.count)
            #elseif canImport(Glibc)
                let count = Glibc.write(descriptor, bytes.baseAddress, bytes.count)
            #else
                let count = Musl.write(descriptor, bytes.baseAddress, bytes.count)
            #endif
            if count > 0 { return .bytes(count) }
            if count < 0, errno == EINTR { continue }
            return count < 0 && errno == EAGAIN ? .later : .failed
        }
    }

    static func canMap(_ bytes: Int) -> Bool {
        #if os(Linux)
            let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
        #else
            let flags = MAP_PRIVATE | MAP_ANON
        #endif
        guard let base = mmap(nil, bytes, PROT_READ | PROT_WRITE, flags, -1, 0), base != MAP_FAILED else {
            return false
        }
        munmap(base, bytes)
        return true
    }
}
