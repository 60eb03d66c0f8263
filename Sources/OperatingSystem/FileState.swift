/// What the system says of a file, by which a change shows.
package struct FileState: Equatable, Sendable {
    package var device: UInt64
    package var inode: UInt64
    /// In bytes.
    package var size: Int
    /// The last change of the content, and of anything, in nanoseconds since 1970. No program can set the
    /// second one at will.
    package var modified: Int
    package var changed: Int

    /// Whether the content is the same file's, unchanged. A second name or other permissions, given meanwhile,
    /// move `changed` alone.
    package func hasContent(of other: FileState) -> Bool {
        device == other.device && inode == other.inode && size == other.size && modified == other.modified
    }

    /// Times move in ticks: of 10 milliseconds at most on local disks, of 2 seconds on some others.
    private static let tick = 2_000_000_000

    /// Whether a change from `now` on (nanoseconds since 1970) must show. One that follows another within a
    /// tick leaves the same times, so what was read so soon after a change may be something else by now.
    package func isSettled(at now: Int) -> Bool { changed <= now && now - changed > Self.tick }
}

/// Why a file can't be used: `reason` ends a sentence that begins with its path.
package struct FileFault: Error, Equatable, Sendable {
    package var path: String
    package var reason: String
    /// There is no such file.
    package var isMissing = false

    package init(path: String, reason: String, isMissing: Bool = false) {
        self.path = path
        self.reason = reason
        self.isMissing = isMissing
    }
}
