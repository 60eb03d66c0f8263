import Foundation
import TestSupport
import Testing

/// The program at a terminal of its own: what is typed goes there, and what it shows comes from there.
final class TerminalProgram {
    private let master: Int32
    private let pid: pid_t
    private var status: Int32?
    private var shown: [UInt8] = []
    /// How much of it was waited for already.
    private var seen = 0

    init(_ arguments: [String], folder: String, environment: [String: String] = [:]) throws {
        var ends: (own: Int32, other: Int32) = (-1, -1)
        var path = [CChar](repeating: 0, count: 1024)
        let isMade = openpty(&ends.own, &ends.other, &path, nil, nil) == 0
        master = ends.own
        try #require(isMade, "no terminal can be made")
        let name = path.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
        // Until the program has opened it.
        defer { close(ends.other) }
        _ = fcntl(ends.other, F_SETFD, FD_CLOEXEC)
        _ = fcntl(master, F_SETFD, FD_CLOEXEC)
        _ = fcntl(master, F_SETFL, O_NONBLOCK)
        var size = winsize(ws_row: 24, ws_col: 60, ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(master, UInt(TIOCSWINSZ), &size)

        // The first terminal that the leader of a session opens is its own.
        #if canImport(Darwin)
            var attributes: posix_spawnattr_t?
            var actions: posix_spawn_file_actions_t?
        #else
            var attributes = posix_spawnattr_t()
            var actions = posix_spawn_file_actions_t()
        #endif
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // As a shell starts it: no signal is ignored or held up.
        var (defaults, none) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigemptyset(&defaults)
        for number in [SIGINT, SIGHUP, SIGTERM, SIGQUIT, SIGTSTP] { sigaddset(&defaults, number) }
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        posix_spawnattr_setsigmask(&attributes, &none)
        #if os(Linux)
            // Swift doesn't see its name.
            let newSession: Int32 = 0x80
        #else
            let newSession = Int32(POSIX_SPAWN_SETSID)
        #endif
        let flags = newSession | Int32(POSIX_SPAWN_SETSIGDEF) | Int32(POSIX_SPAWN_SETSIGMASK)
        posix_spawnattr_setflags(&attributes, Int16(flags))
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, name, O_RDWR, 0)
        posix_spawn_file_actions_adddup2(&actions, 0, 1)
        posix_spawn_file_actions_adddup2(&actions, 0, 2)

        let program = try #require(Program.path)
        let variables = Program.environment.merging(["TERM": "xterm", "HOME": folder]) { $1 }.merging(
            environment
        ) { $1 }
        let words = ([program] + arguments).map { strdup($0) } + [nil]
        let values = variables.map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in words + values { free(text) } }
        var pid = pid_t()
        let code = posix_spawn(&pid, program, &actions, &attributes, words, values)
        try #require(code == 0, "\(String(cString: strerror(code)))")
        self.pid = pid
    }

    deinit {
        if status == nil {
            kill(pid, SIGKILL)
            var ignored: Int32 = 0
            waitpid(pid, &ignored, 0)
        }
        close(master)
    }

    /// All that was shown so far.
    var text: String { String(decoding: shown, as: UTF8.self) }

    func type(_ text: String) {
        let bytes = Array(text.utf8)
        #expect(write(master, bytes, bytes.count) == bytes.count)
    }

    func send(_ signal: Int32) { kill(pid, signal) }

    /// Waits until a text is shown that was not waited for before: at most as long as a very busy machine takes.
    func expect(_ wanted: String) throws {
        let deadline = ContinuousClock.now + .seconds(longestWait)
        let pattern = Array(wanted.utf8)
        while true {
            if let range = shown[seen...].firstRange(of: pattern) {
                seen = range.upperBound
                return
            }
            let isOpen = read(milliseconds: 100)
            if shown[seen...].firstRange(of: pattern) != nil { continue }
            try #require(isOpen, "the end comes before \(wanted): \(text)")
            try #require(ContinuousClock.now < deadline, "no \(wanted): \(text)")
        }
    }

    /// Waits for its end.
    /// - Returns: the exit status; a signal's number is above 1000.
    func end() throws -> Int32 {
        let deadline = ContinuousClock.now + .seconds(longestWait)
        while true {
            _ = read(milliseconds: 20)
            var code: Int32 = 0
            if waitpid(pid, &code, WNOHANG) == pid {
                let status = code & 0x7F == 0 ? code >> 8 & 0xFF : 1000 + code & 0x7F
                self.status = status
                // What it showed last.
                for _ in 0..<10 { _ = read(milliseconds: 20) }
                return status
            }
            try #require(ContinuousClock.now < deadline, "still running: \(text)")
        }
    }

    /// Whether the terminal shows what is typed, as shells expect it.
    var echoes: Bool {
        var modes = termios()
        return tcgetattr(master, &modes) == 0
            && modes.c_lflag & tcflag_t(ECHO | ICANON) == tcflag_t(ECHO | ICANON)
    }

    /// - Returns: false once nothing more will come.
    private func read(milliseconds: Int32) -> Bool {
        var entry = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
        guard poll(&entry, 1, milliseconds) > 0 else { return true }
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        let count = Foundation.read(master, &chunk, chunk.count)
        guard count > 0 else { return count < 0 && errno == EAGAIN }
        shown += chunk[..<count]
        return true
    }
}
