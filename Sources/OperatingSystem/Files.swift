import FoundationShim

/// Operations on files and folders besides reading open files. Foundation's counterparts take only paths of valid
/// UTF-8.
package enum Files {
    /// Returns the state of a path's file, links followed; nil if there is none or it can't be examined.
    package static func info(of path: String) -> FileInfo? { try? FileInfo(of: path) }

    package static func kind(of path: String) -> FileInfo.FileType? { info(of: path)?.kind }

    package static func identity(of path: String) -> FileInfo.Identity? { info(of: path)?.identity }

    /// Checks that this process may read, or write, a path's file.
    /// - Throws: the reason if it may not.
    package static func checkAccess(_ path: String, writing: Bool) throws(SystemError) {
        let wanted = writing ? W_OK | X_OK : R_OK
        guard faccessat(AT_FDCWD, path.cPath, wanted, AT_EACCESS) == 0 else { throw .last }
    }

    /// Returns the files that match a shell pattern (`*`, `?`, `[...]`), sorted by the bytes of their names.
    package static func matching(_ pattern: String) -> [String] {
        var found = glob_t()
        defer { globfree(&found) }
        guard glob(pattern.cPath, 0, nil, &found) == 0, let paths = found.gl_pathv else { return [] }
        return (0..<Int(found.gl_pathc)).compactMap { paths[$0].map { String(cPath: $0) } }
            .filter { kind(of: $0) != .folder }
            .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// - Parameter limit: the most bytes to read.
    package static func contents(of path: String, limit: Int = .max) throws(SystemError) -> [UInt8] {
        let descriptor = open(path.cPath, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .last }
        defer { close(descriptor) }
        return try contents(of: descriptor, limit: limit)
    }

    /// Nil if it can't be read.
    package static func text(of path: String, limit: Int = 1 << 20) -> String? {
        (try? contents(of: path, limit: limit)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns the numbers in a small file, without words such as "max".
    package static func numbers(in path: String) -> [Int] {
        (text(of: path) ?? "").split { $0 == " " || $0 == "\n" }.compactMap { Int($0) }
    }

    /// Returns the content of an open file from its current position.
    package static func contents(of descriptor: Int32, limit: Int = .max) throws(SystemError) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count < limit {
            let count = chunk.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .last }
            if count == 0 { break }
            bytes += chunk[..<min(count, limit - bytes.count)]
        }
        return bytes
    }

    /// Replaces the content of a file, or creates it.
    package static func replaceContents(of path: String, with bytes: [UInt8]) throws(SystemError) {
        let descriptor = open(path.cPath, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw .last }
        defer { close(descriptor) }
        try write(bytes, to: descriptor)
    }

    /// Writes all bytes to an open file, and waits while it can't take more.
    package static func write(_ bytes: [UInt8], to descriptor: Int32) throws(SystemError) {
        var done = 0
        while done < bytes.count {
            let written = bytes.withUnsafeBytes {
                FileCalls.write(descriptor, UnsafeRawBufferPointer(rebasing: $0[done...]))
            }
            switch written {
            case .bytes(let count): done += count
            case .later: _ = FileCalls.isReady(descriptor, milliseconds: -1)
            case .failed: throw errno == 0 ? SystemError(code: EIO) : .last
            }
        }
    }

    /// Returns the names in a folder, unordered.
    package static func names(in folder: String) throws(SystemError) -> [String] {
        guard let stream = opendir(folder.cPath) else { throw .last }
        defer { closedir(stream) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                if errno != 0 { throw .last }
                return names
            }
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                String(cPath: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self))
            }
            if name != ".", name != ".." { names.append(name) }
        }
    }

    /// Creates a folder and its parents as needed.
    package static func makeFolder(_ path: String, mode: Int = 0o777) throws(SystemError) {
        if mkdir(path.cPath, mode_t(mode)) == 0 { return }
        var failure = SystemError.last
        if failure.code == ENOENT, case let above = Paths.folder(of: path), !Paths.areEqual(above, path) {
            try makeFolder(above, mode: mode)
            if mkdir(path.cPath, mode_t(mode)) == 0 { return }
            failure = .last
        }
        // Some systems report other errors first if the folder exists.
        guard kind(of: path) == .folder else { throw failure }
    }

    /// Returns the absolute path without links; nil if nothing exists there.
    package static func canonicalPath(_ path: String) -> String? {
        guard let found = realpath(path.cPath, nil) else { return nil }
        defer { free(found) }
        return String(cPath: found)
    }

    /// Returns the absolute path without links of a file that need not exist yet, to compare the names of files that a
    /// run will write.
    package static func destination(of path: String) -> String { destination(of: path, links: 40) }

    private static func destination(of path: String, links: Int) -> String {
        if let found = canonicalPath(path) { return found }
        if links > 0, let target = try? linkTarget(of: path) {
            return destination(of: Paths.join(Paths.folder(of: path), target), links: links - 1)
        }
        let (folder, name) = (Paths.folder(of: path), Paths.name(of: path))
        if name.isEmpty || Paths.areEqual(folder, path) { return path }
        let above = destination(of: folder, links: links)
        if Paths.areEqual(name, ".") { return above }
        return Paths.areEqual(name, "..") ? Paths.folder(of: above) : Paths.join(above, name)
    }

    /// Returns the target of a symbolic link; nil if the path isn't one or doesn't exist.
    package static func linkTarget(of path: String) throws(SystemError) -> String? {
        var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = bytes.withUnsafeMutableBytes { buffer in
            buffer.withMemoryRebound(to: CChar.self) { text in
                text.baseAddress.map { readlink(path.cPath, $0, text.count) } ?? 0
            }
        }
        if count >= 0 { return String(pathBytes: bytes[..<count]) }
        let failure = SystemError.last
        if failure.isNotFound || failure.code == EINVAL { return nil }
        throw failure
    }

    /// Whether a path has pattern characters.
    package static func isPattern(_ path: String) -> Bool { path.utf8.contains { "*?[".utf8.contains($0) } }

    /// Whether `matching` would find a file of this path, existing or not.
    package static func pattern(_ pattern: String, fits path: String) -> Bool {
        let folder = Paths.folder(of: pattern)
        let flags = FNM_PATHNAME | FNM_PERIOD
        // By its own name, or after following a link.
        let own = Paths.join(destination(of: Paths.folder(of: path)), Paths.name(of: path))
        return [own, destination(of: path)].contains { path in
            if isPattern(folder) {
                let whole = Paths.join(destination(of: "."), pattern)
                return fnmatch(whole.cPath, path.cPath, flags) == 0
            }
            return Paths.areEqual(Paths.folder(of: path), destination(of: folder))
                && fnmatch(Paths.name(of: pattern).cPath, Paths.name(of: path).cPath, flags) == 0
        }
    }

    /// Whether a name without folders matches a pattern.
    package static func pattern(_ pattern: String, fitsName name: String) -> Bool {
        fnmatch(pattern.cPath, name.cPath, FNM_PERIOD) == 0
    }

    package static func isLink(_ path: String) -> Bool {
        (try? FileInfo(ofEntry: path))?.kind == .link
    }

    /// Removes a file or link, never a folder.
    package static func remove(_ path: String) throws(SystemError) {
        guard unlink(path.cPath) == 0 else { throw .last }
    }

    /// Removes a folder with all its content; follows no links.
    package static func removeFolder(_ folder: String) throws(SystemError) {
        for name in try names(in: folder) {
            let path = Paths.join(folder, name)
            if !isLink(path), kind(of: path) == .folder { try removeFolder(path) } else { try remove(path) }
        }
        guard rmdir(folder.cPath) == 0 else { throw .last }
    }

    /// Removes the least recently used of files or folders that are beyond a number of bytes together.
    package static func removeUnused(
        _ items: [(path: String, size: Int, used: Int)], beyond limit: Int, but kept: String
    ) {
        var total = items.reduce(0) { $0 + $1.size }
        for item in items.sorted(by: { $0.used < $1.used }) where total > limit && item.path != kept {
            if kind(of: item.path) == .folder { try? removeFolder(item.path) } else { try? remove(item.path) }
            total -= item.size
        }
    }

    /// Renames a file or folder atomically, replacing an existing one.
    package static func rename(_ path: String, to newPath: String) throws(SystemError) {
        guard FoundationShim.rename(path.cPath, newPath.cPath) == 0 else {
            throw SystemError(newPath, "can't be put in place", code: errno)
        }
    }

    /// Name of a file until it is complete: `PATH.PROCESS-RANDOM.draft`.
    package static func draftName(for path: String) -> String {
        "\(path).\(ThisProcess.id)-\(String(UInt32.random(in: 0 ... .max), radix: 16)).draft"
    }

    /// Marks a file as changed now. A failure is ignored.
    package static func touch(_ path: String) { utimensat(AT_FDCWD, path.cPath, nil, 0) }

    /// Whether the file at `path` itself (not a link's target) is regular and begins with `head`.
    package static func begins(_ path: String, with head: [UInt8]) -> Bool {
        (try? File.regular(path, followsLinks: false))?.begins(with: head) ?? false
    }

    /// Whether nobody holds the lock of a file; nil if it can't be opened.
    package static func isUnlocked(_ path: String) -> Bool? {
        (try? File.open(path, .readOwn)).map { (try? $0.tryLock(exclusive: true)) == true }
    }

    /// Whether nothing exists at `path`, not even a broken link.
    package static func isAbsent(_ path: String) -> Bool {
        var status = stat()
        return lstat(path.cPath, &status) != 0 && errno == ENOENT
    }

    /// Makes all files and folders from now on private to the user.
    package static func closeNewOnesToOthers() { umask(0o077) }
}

extension Files {
    /// Joins paths like `Paths.join`, but resolves `..` after a folder that is no link.
    package static func joined(_ folder: String, _ name: String) -> String {
        var (folder, rest) = (folder, name.utf8[...])
        while true {
            if rest.starts(with: "./".utf8), rest.count > 2 {
                rest = rest.dropFirst(2).drop { $0 == UInt8(ascii: "/") }
                continue
            }
            let last = Paths.name(of: folder)
            guard rest.starts(with: "../".utf8), rest.count > 3, !["", ".", ".."].contains(last),
                kind(of: folder) == .folder, !isLink(folder)
            else { break }
            folder = Paths.folder(of: folder)
            rest = rest.dropFirst(3).drop { $0 == UInt8(ascii: "/") }
        }
        return Paths.join(folder, String(Substring(rest)))
    }
}

/// System calls for streams.
package enum FileCalls {
    /// Bytes that a ready pipe takes without blocking.
    package static let pipeUnit = Int(PIPE_BUF)

    /// Whether `descriptor` accepts bytes now, or fails now.
    /// - Parameter milliseconds: time to wait; unlimited if negative.
    package static func isReady(_ descriptor: Int32, milliseconds: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        while true {
            let found = poll(&entry, 1, milliseconds)
            if found >= 0 { return found > 0 }
            if errno != EINTR { return true }
        }
    }

    package enum Written {
        case bytes(Int)
        /// The descriptor is non-blocking and full.
        case later
        case failed
    }

    package static func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Written {
        while true {
            let count = FoundationShim.write(descriptor, bytes.baseAddress, bytes.count)
            if count > 0 { return .bytes(count) }
            if count < 0, errno == EINTR { continue }
            return count < 0 && errno == EAGAIN ? .later : .failed
        }
    }
}

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

package enum ThisProcess {
    package static var id: Int32 { getpid() }
    package static var userID: UInt32 { geteuid() }

    /// Whether a process runs, this one's or another user's.
    package static func isRunning(_ process: Int32) -> Bool { kill(process, 0) == 0 || errno != ESRCH }

    package static var hostName: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "unknown" }
        return String(cPath: name)
    }
}

/// Arguments and paths of the program, byte for byte. (`CommandLine.arguments` and `ProcessInfo` repair invalid UTF-8,
/// and so name other files.)
package enum ProgramCall {
    /// Arguments, beginning with the program's name.
    package static var arguments: [String] {
        (0..<Int(CommandLine.argc)).compactMap { index in
            CommandLine.unsafeArgv[index].map { String(cPath: $0) }
        }
    }

    /// Path of the program's executable, without links; nil if unknown.
    package static var executable: String? {
        #if canImport(Darwin)
            var size: UInt32 = 0
            _ = _NSGetExecutablePath(nil, &size)
            var path = [CChar](repeating: 0, count: Int(size))
            guard _NSGetExecutablePath(&path, &size) == 0 else { return nil }
            return Files.canonicalPath(String(cPath: path))
        #else
            return Files.canonicalPath("/proc/self/exe")
        #endif
    }

    /// Returns the path in a variable; nil if it is not set or empty.
    package static func path(inVariable name: String) -> String? {
        getenv(name).map { String(cPath: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
}
