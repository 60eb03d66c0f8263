import FoundationShim

/// State of a file: the part of `stat` that is needed here.
package struct FileInfo: Equatable, Sendable {
    /// `link` is a symbolic link that was not followed.
    package enum FileType: Sendable { case regular, folder, link, other }

    /// Identifies a file, whatever its names.
    package struct Identity: Hashable, Sendable {
        package let device: UInt64
        package let inode: UInt64
    }

    package let kind: FileType
    package let identity: Identity
    /// In bytes.
    package var size: Int
    /// Permissions, with the set-user-id, set-group-id and sticky bits.
    package let mode: UInt32
    package let user: UInt32
    package let group: UInt32
    /// Number of the file's names.
    package let linkCount: Int
    /// Last change of the content, and of anything, in nanoseconds since 1970. No program can set the second one
    /// freely.
    package let modified: Int
    package let changed: Int

    /// Follows links.
    package init(of path: String) throws(SystemError) { try self.init { stat(path.cPath, &$0) } }
    package init(of descriptor: Int32) throws(SystemError) { try self.init { fstat(descriptor, &$0) } }
    /// Examines the path itself, even if it is a symbolic link.
    package init(ofEntry path: String) throws(SystemError) { try self.init { lstat(path.cPath, &$0) } }

    private init(_ call: (inout stat) -> Int32) throws(SystemError) {
        var status = stat()
        guard call(&status) == 0 else { throw .last }
        kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .regular
            case S_IFDIR: .folder
            case S_IFLNK: .link
            default: .other
            }
        identity = Identity(
            device: UInt64(truncatingIfNeeded: status.st_dev),
            inode: UInt64(truncatingIfNeeded: status.st_ino)
        )
        size = Int(status.st_size)
        mode = UInt32(status.st_mode) & 0o7777
        (user, group, linkCount) = (status.st_uid, status.st_gid, Int(status.st_nlink))
        #if canImport(Darwin)
            (modified, changed) = (
                Self.nanoseconds(status.st_mtimespec), Self.nanoseconds(status.st_ctimespec)
            )
        #else
            (modified, changed) = (Self.nanoseconds(status.st_mtim), Self.nanoseconds(status.st_ctim))
        #endif
    }

    package func isSameFile(as other: FileInfo) -> Bool { identity == other.identity }

    /// Whether the content is the same file's, unchanged. New names or permissions move only `changed`.
    package func hasContent(of other: FileInfo) -> Bool {
        identity == other.identity && size == other.size && modified == other.modified
    }

    /// Times have a resolution: up to 10 milliseconds on local disks, up to 2 seconds on some others.
    private static let tick = 2_000_000_000

    /// Whether a change from `now` on (nanoseconds since 1970) must show. A change soon after another has the same
    /// times, so content read in between may already be stale.
    package func isSettled(at now: Int) -> Bool { changed <= now && now - changed > Self.tick }

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
