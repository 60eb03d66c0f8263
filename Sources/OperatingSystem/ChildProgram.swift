import FoundationShim

/// A child process with files as its input and output. Releasing it closes the files and ends a child that still runs.
package final class ChildProgram {
    /// End of a child.
    package enum End: Sendable, Equatable {
        case exit(Int32)
        case signal(Int32)
    }

    /// One at a time: a child that inherits another's pipe would hide its end.
    private static let starting = Mutex()
    private let process: pid_t
    private let output: Int32?
    private let errors: Int32
    private var end: End?

    /// - Parameters:
    ///   - path: path of the program, from `find`.
    ///   - input: descriptor for its standard input.
    ///   - output: descriptor for its standard output; nil for a pipe that `read` reads.
    ///   - third: descriptor for its descriptor 3.
    ///   - environment: names of variables to pass beside PATH, HOME and the like. A name that ends in `_` stands for
    ///     all variables with that prefix.
    ///   - endsWithTerminal: whether it receives interrupts from the terminal.
    /// - Throws: `SystemError` if it can't be started.
    package init(
        _ path: String, _ arguments: [String], input: Int32, output: Int32? = nil, third: Int32? = nil,
        environment: [String] = [], endsWithTerminal: Bool = false
    ) throws(SystemError) {
        func fault(_ code: Int32) -> SystemError {
            SystemError(path, code: code)
        }
        Self.starting.lock()
        defer { Self.starting.unlock() }
        guard let said = Self.newPipe() else { throw fault(errno) }
        guard let made = output == nil ? Self.newPipe() : (read: -1, write: -1) else {
            for end in [said.read, said.write] { _ = close(end) }
            throw fault(errno)
        }
        defer {
            _ = close(said.write)
            if output == nil { _ = close(made.write) }
        }
        // Nobody reads it until the end, so too much output is dropped instead of blocking the child.
        _ = fcntl(said.write, F_SETFL, O_NONBLOCK)
        #if canImport(Darwin)
            var (attributes, actions): (posix_spawnattr_t?, posix_spawn_file_actions_t?)
        #else
            var (attributes, actions) = (posix_spawnattr_t(), posix_spawn_file_actions_t())
        #endif
        posix_spawnattr_init(&attributes)
        posix_spawn_file_actions_init(&actions)
        defer {
            posix_spawnattr_destroy(&attributes)
            posix_spawn_file_actions_destroy(&actions)
        }
        // As a shell starts it, but usually in its own process group: terminal signals are for this process.
        var (defaults, none) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigfillset(&defaults)
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setpgroup(&attributes, 0)
        let flags =
            POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | (endsWithTerminal ? 0 : POSIX_SPAWN_SETPGROUP)
        posix_spawnattr_setflags(&attributes, Int16(flags))
        for (descriptor, stream) in [(input, 0), (output ?? made.write, 1), (said.write, 2)]
            as [(Int32, Int32)]
        {
            posix_spawn_file_actions_adddup2(&actions, descriptor, stream)
        }
        if let third { posix_spawn_file_actions_adddup2(&actions, third, 3) }
        let words = ([path] + arguments).map { strdup($0.cPath) } + [nil]
        let variables = Self.variables(environment).map { strdup($0.cPath) } + [nil]
        defer { for word in words + variables { free(word) } }
        var process = pid_t()
        let code = posix_spawn(&process, path.cPath, &actions, &attributes, words, variables)
        guard code == 0 else {
            _ = close(said.read)
            if output == nil { _ = close(made.read) }
            throw fault(code)
        }
        (self.process, self.output, errors) = (process, output == nil ? made.read : nil, said.read)
    }

    deinit {
        if end == nil { _ = kill(process, SIGKILL) }
        _ = wait()
        _ = close(errors)
        if let output { _ = close(output) }
    }

    /// Reads its output as it comes; the child waits while nobody reads.
    /// - Returns: 0 at the end of its output.
    package func read(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
        guard let output else { return 0 }
        while true {
            let count = FoundationShim.read(output, buffer.baseAddress, buffer.count)
            if count >= 0 { return count }
            guard errno == EINTR else { throw .last }
        }
    }

    /// Reads all of its output.
    /// - Parameter reading: called with what has come so far.
    /// - Throws: `SystemError`, also for more than a number of bytes.
    package func readAll(limit: Int = .max) throws(SystemError) -> [UInt8] {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 1)
        defer { buffer.deallocate() }
        var all: [UInt8] = []
        while case let count = try read(into: buffer), count > 0 {
            all += buffer[..<count]
            guard all.count <= limit else { throw SystemError("", "it prints more than \(limit >> 20) MiB") }
        }
        return all
    }

    /// Waits for its end.
    package func wait() -> End {
        if let end { return end }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        let made = status & 0x7F == 0 ? End.exit(status >> 8 & 0xFF) : .signal(status & 0x7F)
        end = made
        return made
    }

    /// Returns its error output, once it has ended.
    package func said() -> String {
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        _ = fcntl(errors, F_SETFL, O_NONBLOCK)
        let count = bytes.withUnsafeMutableBytes { FoundationShim.read(errors, $0.baseAddress, $0.count) }
        return String(decoding: bytes[..<max(0, count)], as: UTF8.self)
    }

    // MARK: Places and variables

    /// Variables that a program needs for the network.
    package static let network = [
        "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy",
        "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
    ]

    /// Folders to search for programs: the absolute entries of PATH. Others, also empty ones, depend on the working
    /// directory, where anybody's files may be.
    private static var folders: [String] {
        let path = ProgramCall.path(inVariable: "PATH")?.pathBytes ?? []
        let absolute = path.split(separator: UInt8(ascii: ":")).map { String(pathBytes: $0) }
            .filter(Paths.isAbsolute)
        return absolute.isEmpty ? ["/usr/bin", "/bin"] : absolute
    }

    /// Returns the path of a program on PATH, or nil. Empty and relative entries of PATH are skipped.
    package static func find(_ name: String) -> String? {
        folders.lazy.map { Paths.join($0, name) }
            .first { Files.kind(of: $0) == .regular && access($0.cPath, X_OK) == 0 }
    }

    /// Returns the environment of a child, without variables that load foreign code (`PYTHONPATH`, `LD_PRELOAD`).
    private static func variables(_ more: [String]) -> [String] {
        let allowed = ["HOME", "LANG", "LANGUAGE", "LC_", "LOGNAME", "TMPDIR", "TZ", "USER"] + more
        var made = ["PATH=" + folders.joined(separator: ":")]
        var next = environ
        while let entry = next.pointee {
            let text = String(cPath: entry)
            let name = text.utf8.prefix { $0 != UInt8(ascii: "=") }
            let isAllowed = allowed.contains {
                $0.utf8.last == UInt8(ascii: "_") ? name.starts(with: $0.utf8) : name.elementsEqual($0.utf8)
            }
            if isAllowed { made.append(text) }
            next += 1
        }
        return made
    }

    private static func newPipe() -> (read: Int32, write: Int32)? {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }
}
