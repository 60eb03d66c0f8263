import Essentials
import OperatingSystem

extension Platform {
    static let resized = SIGWINCH
    static let continued = SIGCONT
    static let interrupt = SIGINT

    /// Rows and columns; nil if the descriptor is no terminal or doesn't say.
    static func terminalSize(_ descriptor: Int32) -> (rows: Int, columns: Int)? {
        var size = winsize()
        #if canImport(Musl)
            let code = ioctl(descriptor, Int32(TIOCGWINSZ), &size)
        #else
            let code = ioctl(descriptor, UInt(TIOCGWINSZ), &size)
        #endif
        guard code == 0, size.ws_row > 0, size.ws_col > 0 else { return nil }
        return (Int(size.ws_row), Int(size.ws_col))
    }

    /// Stops this program and those beside it, as the terminal does at Ctrl-Z; returns when it goes on.
    static func stopGroup() { kill(0, SIGTSTP) }

    /// - Returns: the bytes that are there, up to a limit; empty at the end; nil if the call was broken off.
    static func readSome(_ descriptor: Int32, limit: Int = 1 << 16) -> [UInt8]? {
        var chunk = [UInt8](repeating: 0, count: limit)
        let count = chunk.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
        if count < 0 { return errno == EINTR || errno == EAGAIN ? nil : [] }
        return Array(chunk[..<count])
    }

    /// Whether each of them has something to read, once one has; none if a signal came.
    static func waitForInput(_ descriptors: [Int32]) -> [Bool] {
        var entries = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        _ = poll(&entries, nfds_t(entries.count), -1)
        return entries.map { $0.revents != 0 }
    }

    /// A pipe within this process; neither end waits. Nil if there can be none.
    static func makePipe() -> (read: Int32, write: Int32)? {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        return (ends[0], ends[1])
    }

    static func closePipe(_ ends: (read: Int32, write: Int32)) {
        close(ends.read)
        close(ends.write)
    }

    /// For handlers too. If the pipe is full, there is enough in it.
    static func post(_ byte: UInt8, to descriptor: Int32) {
        let before = errno
        var byte = byte
        _ = write(descriptor, &byte, 1)
        errno = before
    }
}

/// What a terminal does with what is typed. The three ways are made at the start, so that a signal's handler can
/// put the first one back.
struct TerminalModes {
    enum Mode: Int { case original, editing, answering }

    private let descriptor: Int32
    private let original: termios
    /// Every key comes as it is.
    private let editing: termios
    /// Nothing is shown of what is typed, and Ctrl-C and Ctrl-Z are signals.
    private let answering: termios

    /// Nil if the descriptor is no terminal.
    init?(_ descriptor: Int32) {
        var modes = termios()
        guard tcgetattr(descriptor, &modes) == 0 else { return nil }
        (self.descriptor, original) = (descriptor, modes)
        modes.c_lflag &= ~tcflag_t(ICANON | ECHO)
        modes.c_iflag &= ~tcflag_t(ICRNL | INLCR | IGNCR | ISTRIP)
        withUnsafeMutableBytes(of: &modes.c_cc) { characters in
            characters[Int(VMIN)] = 1
            characters[Int(VTIME)] = 0
        }
        answering = modes
        modes.c_lflag &= ~tcflag_t(ISIG | IEXTEN)
        modes.c_iflag &= ~tcflag_t(IXON)
        editing = modes
    }

    func set(_ mode: Mode) {
        var modes =
            switch mode {
            case .original: original
            case .editing: editing
            case .answering: answering
            }
        tcsetattr(descriptor, TCSANOW, &modes)
    }
}

/// Adds lines to files of the user's, never through a link.
final class AppendedFile {
    private let descriptor: Int32
    let size: Int

    /// Opens a file, which is made if there is none; nil if it is no regular file.
    init?(_ path: String) throws(Files.Failure) {
        // O_NONBLOCK: a named pipe must not make us wait.
        let flags = O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
        descriptor = open(path.cPath, flags, 0o666)
        guard descriptor >= 0 else { throw .last }
        let status = Files.status(of: descriptor)
        size = status?.size ?? 0
        guard status?.kind == .regular else { return nil }
    }

    deinit { close(descriptor) }

    func contents() throws(Files.Failure) -> [UInt8] { try Files.contents(of: descriptor) }

    /// Adds bytes that are on the disk afterwards. If that fails, none of them stay.
    func append(_ bytes: [UInt8]) throws(Files.Failure) {
        do { try Files.write(bytes, to: descriptor) } catch {
            _ = ftruncate(descriptor, off_t(size))
            throw error
        }
        guard fsync(descriptor) == 0 else { throw .last }
    }
}
