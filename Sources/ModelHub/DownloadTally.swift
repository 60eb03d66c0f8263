import Foundation
import Foundations

/// Adds up what the files of a download have, and reports it a few times a second.
final class DownloadTally: @unchecked Sendable {
    private let total: Int
    private let report: @Sendable (ModelDownload.Event) -> Void
    private let started = ContinuousClock.now
    private let lock = NSLock()
    // Guarded by `lock`.
    private var here: [String: Int] = [:]
    private var fetched = 0
    private var lastReport: ContinuousClock.Instant?

    init(files: [HubFile], report: @escaping @Sendable (ModelDownload.Event) -> Void) {
        total = files.reduce(0) { $0 + $1.size }
        self.report = report
    }

    /// - Parameters:
    ///   - count: bytes of the file that are here.
    ///   - new: how many of them just came.
    func count(_ file: String, here count: Int, fetched new: Int) {
        let progress = lock.withLock { () -> DownloadProgress? in
            here[file] = count
            fetched += new
            let now = ContinuousClock.now
            let done = here.values.reduce(0, +)
            if let lastReport, (now - lastReport).seconds < 0.2, done < total { return nil }
            guard fetched > 0 else { return nil }
            lastReport = now
            return DownloadProgress(
                total: total, done: done, fetched: fetched, seconds: (now - started).seconds)
        }
        if let progress { report(.progress(progress)) }
    }
}
