import Errors
import OperatingSystem

/// Log that a run writes on: with its header at the first need, so that a run with nothing to do changes nothing, and
/// synced in groups.
final class LogWriter {
    /// Header that the run's part begins with.
    var header: LogHeader
    private let lock: OutputLock
    private var file: File { lock.log }
    private var policy = SyncPolicy(now: Moment.now.seconds)
    private var end: Int
    /// Whether the log has the run's header.
    private(set) var hasBegun: Bool

    init(_ lock: OutputLock, _ header: LogHeader) throws {
        (self.lock, self.header, hasBegun) = (lock, header, lock.isNew)
        end = try lock.log.info().size
    }

    /// Goes on where what is whole of the log ends; after another log has taken its place, too.
    func resume(at end: Int, hasBegun: Bool = false) { (self.end, self.hasBegun) = (end, hasBegun) }

    /// - Parameter marks: lines that come with the header.
    func begin(with marks: [UInt8] = []) throws {
        guard !hasBegun else { return }
        hasBegun = true
        try write(header.line + [0x0A] + marks)
    }

    /// - Parameter line: without its line feed.
    /// - Returns: where it begins.
    @discardableResult func append(_ line: [UInt8]) throws -> Int {
        try begin()
        let start = end
        try write(line + [0x0A])
        lock.isNew = false
        return start
    }

    private func write(_ bytes: [UInt8]) throws {
        do {
            try file.write(bytes, at: end)
        } catch {
            // Not needed for safety, as a torn line is cut off on resume; but it is tidier.
            try? file.resize(to: end)
            throw error
        }
        end += bytes.count
        policy.written()
    }

    func syncIfDue() throws { if policy.isDue(now: Moment.now.seconds) { try sync() } }

    func sync() throws {
        guard policy.isPending else { return }
        let start = Moment.now.seconds
        try file.sync()
        // Writing on into a file that someone has removed would lose it all at the end.
        guard try file.isInPlace() else {
            throw UserError(.io, at: file.path, "was removed or replaced while the run was writing it.")
        }
        policy.synced(from: start, to: Moment.now.seconds)
    }

    /// The log's path, unless it was removed or replaced.
    var pathInPlace: String? { (try? file.isInPlace()) == true ? file.path : nil }
}

/// When results are brought to the disk: about once a second, and less often where the disk is so slow
/// that this would cost more than a hundredth of the time.
struct SyncPolicy {
    private var last: Double
    private var interval = 1.0
    private(set) var isPending = false
    private static let longest = 60.0

    init(now: Double) { last = now }

    mutating func written() { isPending = true }

    func isDue(now: Double) -> Bool { isPending && now - last >= interval }

    mutating func synced(from start: Double, to end: Double) {
        isPending = false
        last = end
        interval = min(max(1, (end - start) * 100), Self.longest)
    }
}
