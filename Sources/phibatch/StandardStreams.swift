import FoundationShim

/// Keeps files from getting the numbers of stdin, stdout or stderr if a caller has closed those, as messages would be
/// written into them.
enum StandardStreams {
    /// Must be called before anything is opened. Closed streams stay unusable: reading or writing fails.
    static func occupy() {
        for (number, wrongWay) in [(Int32(0), O_WRONLY), (1, O_RDONLY), (2, O_RDONLY)]
        where fcntl(number, F_GETFD) < 0 {
            // open takes the lowest free number, which is this one.
            _ = open("/dev/null", wrongWay)
        }
    }
}
