import FoundationShim

/// Keeps files from getting the numbers of stdin, stdout or stderr where a caller has closed those:
/// messages would be written into them.
enum StandardStreams {
    /// To be called before anything is opened. What was closed stays unusable: reading or writing fails.
    static func occupy() {
        for (number, wrongWay) in [(Int32(0), O_WRONLY), (1, O_RDONLY), (2, O_RDONLY)]
        where fcntl(number, F_GETFD) < 0 {
            // The lowest free number is taken, which is this one.
            _ = open("/dev/null", wrongWay)
        }
    }
}
