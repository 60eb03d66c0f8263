import FoundationShim

/// Attributes of a file by which a change shows.
package struct FileState: Equatable, Sendable {
    package var device: UInt64
    package var inode: UInt64
    /// In bytes.
    package var size: Int
    /// Last change of the content, and of anything, in nanoseconds since 1970. No program can set the second one
    /// freely.
    package var modified: Int
    package var changed: Int

    /// Whether the content is the same file's, unchanged. New names or permissions move only `changed`.
    package func hasContent(of other: FileState) -> Bool {
        device == other.device && inode == other.inode && size == other.size && modified == other.modified
    }

    /// Times have a resolution: up to 10 milliseconds on local disks, up to 2 seconds on some others.
    private static let tick = 2_000_000_000

    /// Whether a change from `now` on (nanoseconds since 1970) must show. A change soon after another has the same
    /// times, so content read in between may already be stale.
    package func isSettled(at now: Int) -> Bool { changed <= now && now - changed > Self.tick }
}

extension FileState {
    package init(_ status: stat) {
        #if canImport(Darwin)
            let (modified, changed) = (status.st_mtimespec, status.st_ctimespec)
        #else
            let (modified, changed) = (status.st_mtim, status.st_ctim)
        #endif
        self.init(
            device: UInt64(truncatingIfNeeded: status.st_dev),
            inode: UInt64(truncatingIfNeeded: status.st_ino),
            size: Int(status.st_size), modified: Self.nanoseconds(modified),
            changed: Self.nanoseconds(changed))
    }

    /// System clock, in nanoseconds since 1970.
    package static var now: Int {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return nanoseconds(time)
    }

    private static func nanoseconds(_ time: timespec) -> Int {
        Int(time.tv_sec) &* 1_000_000_000 &+ Int(time.tv_nsec)
    }
}
