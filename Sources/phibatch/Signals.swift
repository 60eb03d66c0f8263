import FoundationShim

/// Signals that the program receives.
enum Signals {
    /// Signals that ask a program to stop.
    static let stopSignals = [(SIGINT, "SIGINT"), (SIGTERM, "SIGTERM"), (SIGHUP, "SIGHUP")]
    static let hangUp = SIGHUP
    static let interrupt = SIGINT
    static let alarm = SIGALRM

    static func ignore(_ number: Int32) { signal(number, SIG_IGN) }

    /// Makes failed writes show as errors instead of killing the process: a closed pipe, a limit on the size of files
    /// (ulimit -f).
    static func ignoreFailedWrites() {
        ignore(SIGPIPE)
        ignore(SIGXFSZ)
    }

    static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(number, nil, &action) == 0 else { return false }
        #if canImport(Darwin)
            let handler = action.__sigaction_u.__sa_handler
        #elseif canImport(Glibc)
            let handler = action.__sigaction_handler.sa_handler
        #else
            let handler = action.__sa_handler.sa_handler
        #endif
        return unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    /// Calls `handler` with the number, on any thread. System calls continue afterwards.
    static func handle(_ number: Int32, _ handler: @escaping @convention(c) (Int32) -> Void) {
        var action = sigaction()
        #if canImport(Darwin)
            action.__sigaction_u.__sa_handler = handler
        #elseif canImport(Glibc)
            action.__sigaction_handler.sa_handler = handler
        #else
            action.__sa_handler.sa_handler = handler
        #endif
        // A second signal must get through even if the first one's handler is stuck.
        action.sa_flags = SA_RESTART | SA_NODEFER
        sigaction(number, &action, nil)
        unblock(number)
    }

    private static func unblock(_ number: Int32) {
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, number)
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
    }

    // MARK: For signal handlers, which may neither allocate nor lock

    /// Sends `alarm` after this time, without a thread.
    static func setAlarm(milliseconds: Int) {
        var timer = itimerval()
        timer.it_value.tv_sec = milliseconds / 1000
        timer.it_value.tv_usec = .init(milliseconds % 1000 * 1000)
        #if canImport(Glibc)
            setitimer(__itimer_which_t(ITIMER_REAL.rawValue), &timer, nil)
        #else
            setitimer(ITIMER_REAL, &timer, nil)
        #endif
    }

    static func leave(_ status: Int32) -> Never { _exit(status) }

    /// May be used in a signal handler.
    static var secondsSince1970: Int { Int(time(nil)) }

    /// Returns a text as bytes at a fixed address, made before a handler needs them.
    static func lasting(_ text: String) -> UnsafeMutableRawBufferPointer {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: text.utf8.count, alignment: 1)
        copy.copyBytes(from: text.utf8)
        return copy
    }

    /// Writes to stderr without waiting.
    static func writeError(_ bytes: UnsafeMutableRawBufferPointer) {
        let before = errno
        var entry = pollfd(fd: 2, events: Int16(POLLOUT), revents: 0)
        if poll(&entry, 1, 0) > 0 { _ = write(2, bytes.baseAddress, bytes.count) }
        errno = before
    }
}

/// Terminals, and input from them.
enum Terminal {
    static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) != 0 }

    /// Returns rows and columns; nil if the descriptor is no terminal or doesn't know.
    static func size(_ descriptor: Int32) -> (rows: Int, columns: Int)? {
        var size = winsize()
        #if canImport(Musl)
            let code = ioctl(descriptor, Int32(TIOCGWINSZ), &size)
        #else
            let code = ioctl(descriptor, UInt(TIOCGWINSZ), &size)
        #endif
        guard code == 0, size.ws_row > 0, size.ws_col > 0 else { return nil }
        return (Int(size.ws_row), Int(size.ws_col))
    }

    /// - Returns: the available bytes, up to a limit; empty at the end; nil if the call was interrupted.
    static func readSome(_ descriptor: Int32, limit: Int = 1 << 16) -> [UInt8]? {
        var chunk = [UInt8](repeating: 0, count: limit)
        let count = chunk.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
        if count < 0 { return errno == EINTR || errno == EAGAIN ? nil : [] }
        return Array(chunk[..<count])
    }

    /// Waits for input, the end of the time, or a signal.
    static func hasInput(_ descriptor: Int32, milliseconds: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, milliseconds) > 0
    }
}
