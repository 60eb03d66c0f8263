import FoundationShim

package enum DiskSpace {
    /// Returns the bytes that this user may still write at a path, which need not exist; nil if unknown.
    package static func free(at path: String) -> Int? {
        var folder = path
        while Files.kind(of: folder) == nil, case let above = Paths.folder(of: folder),
            !Paths.areEqual(above, folder)
        {
            folder = above
        }
        var status = statvfs()
        guard statvfs(folder.cPath, &status) == 0 else { return nil }
        return Int(clamping: UInt64(status.f_bavail) * UInt64(status.f_frsize))
    }
}
