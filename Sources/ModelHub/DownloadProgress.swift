import Errors
import OperatingSystem

/// Progress of a download.
public struct DownloadProgress: Sendable, Equatable {
    /// The bytes of all files.
    public var total: Int
    /// Bytes fetched, including an earlier attempt's.
    public var done: Int
    /// Bytes fetched in this attempt.
    public var fetched: Int
    public var seconds: Double

    package init(total: Int, done: Int, fetched: Int = 0, seconds: Double = 0) {
        (self.total, self.done, self.fetched, self.seconds) = (total, done, fetched, seconds)
    }

    public var bytesPerSecond: Double { seconds > 0 ? Double(fetched) / seconds : 0 }
    /// Nil while the speed is unknown.
    public var secondsLeft: Double? {
        bytesPerSecond > 0 ? Double(total - done) / bytesPerSecond : nil
    }
}

/// Event of a download.
package enum DownloadEvent: Sendable, Equatable {
    /// The hub is asked for its files.
    case asks(endpoint: String)
    /// Number of files, and of their bytes that are missing here.
    case begins(String, files: Int, missing: Int)
    case progress(DownloadProgress)
    /// A request failed and is retried after this time; the reason is a sentence without its full stop.
    case pauses(reason: Message, seconds: Double)
    /// Another process is fetching a file of it.
    case waits(file: String)
}

/// Sums the bytes of a download's files, and reports them a few times a second.
final class DownloadTally: Sendable {
    private struct Count {
        var here: [String: Int] = [:]
        var fetched = 0
        var lastReport: ContinuousClock.Instant?
    }

    private let total: Int
    private let report: @Sendable (DownloadEvent) -> Void
    private let started = ContinuousClock.now
    private let count = Mutex(Count())

    /// - Parameter total: the bytes of all files.
    init(total: Int, report: @escaping @Sendable (DownloadEvent) -> Void) {
        (self.total, self.report) = (total, report)
    }

    /// - Parameters:
    ///   - count: bytes of the file fetched.
    ///   - new: number of new ones among them.
    func count(_ file: String, here count: Int, fetched new: Int) {
        let progress = self.count.withLock { sum -> DownloadProgress? in
            sum.here[file] = count
            sum.fetched += new
            let now = ContinuousClock.now
            let done = sum.here.values.reduce(0, +)
            if let last = sum.lastReport, (now - last).seconds < 0.2, done < total { return nil }
            guard sum.fetched > 0 else { return nil }
            sum.lastReport = now
            return DownloadProgress(
                total: total, done: done, fetched: sum.fetched, seconds: (now - started).seconds)
        }
        if let progress { report(.progress(progress)) }
    }
}
