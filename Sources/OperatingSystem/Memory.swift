import FoundationShim

/// System calls without a good form in Foundation. Only files of this name make them.
package enum Platform {
    /// A read-only mapping of a whole file. `base` is nil for an empty file, which can't be mapped.
    package struct Mapping {
        package let base: UnsafeMutableRawPointer?
        package let count: Int
        /// State of the file.
        package let state: FileState
    }

    /// Maps a regular file for reading; anything else (a folder, a pipe, a device) is refused.
    package static func map(_ path: String) throws(SystemError) -> Mapping {
        // O_NONBLOCK: opening a named pipe must fail below, not wait for a writer.
        let descriptor = open(path.cPath, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw SystemError.last }
        defer { close(descriptor) }
        return try map(descriptor)
    }

    /// Maps an open file, which may be closed afterwards.
    package static func map(_ descriptor: Int32) throws(SystemError) -> Mapping {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw SystemError.last }
        guard status.st_mode & S_IFMT == S_IFREG else { throw SystemError("", "is not a regular file") }
        guard let count = Int(exactly: status.st_size) else { throw SystemError(code: EFBIG) }
        let state = FileState(status)
        guard count > 0 else { return Mapping(base: nil, count: 0, state: state) }
        guard let base = mmap(nil, count, PROT_READ, MAP_PRIVATE, descriptor, 0), base != MAP_FAILED else {
            throw SystemError("", "can't be mapped", code: errno)
        }
        guard MemoryRoom.isThere(for: MemoryRoom.spare) else {
            munmap(base, count)
            throw SystemError("", "can't be mapped", code: ENOMEM)
        }
        return Mapping(base: base, count: count, state: state)
    }

    /// Allocates zeroed memory.
    /// - Parameters:
    ///   - count: bytes.
    ///   - alignment: a power of two.
    ///   - left: bytes that must stay available beyond it.
    package static func reserve(_ count: Int, alignment: Int, leaving left: Int) throws(SystemError)
        -> UnsafeMutableRawPointer
    {
        #if os(Linux)
            // Untouched pages need no reservation.
            let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
        #else
            let flags = MAP_PRIVATE | MAP_ANON
        #endif
        let extra = max(0, alignment - pageSize)
        guard let base = mmap(nil, count + extra, PROT_READ | PROT_WRITE, flags, -1, 0), base != MAP_FAILED
        else { throw SystemError.last }
        // Memory before the first aligned address and after the end is unmapped.
        let start = Int(bitPattern: base)
        let skipped = (start + alignment - 1) / alignment * alignment - start
        let end = (skipped + count + pageSize - 1) / pageSize * pageSize
        if skipped > 0 { munmap(base, skipped) }
        if end < count + extra { munmap(base + end, count + extra - end) }
        guard MemoryRoom.isThere(for: left) else {
            munmap(base + skipped, count)
            throw SystemError(code: ENOMEM)
        }
        return base + skipped
    }

    /// Asks for large pages for fresh memory: with small ones, address translation halves the speed of reading weights.
    /// A refusal is ignored.
    package static func preferHugePages(_ base: UnsafeMutableRawPointer, count: Int) {
        #if os(Linux)
            // MADV_HUGEPAGE
            madvise(base, count, 14)
        #endif
    }

    package static let pageSize = Int(sysconf(Int32(_SC_PAGESIZE)))

    /// Limit of `ulimit -v` in bytes; nil for none.
    package static var addressSpaceLimit: Int? { limit(RLIMIT_AS) }

    /// Limit of `ulimit -d` in bytes; nil for none.
    package static var dataLimit: Int? { limit(RLIMIT_DATA) }

    #if canImport(Glibc)
        static func limit(_ resource: __rlimit_resource) -> Int? {
            limit { getrlimit(__rlimit_resource_t(resource.rawValue), &$0) }
        }
    #else
        static func limit(_ resource: Int32) -> Int? { limit { getrlimit(resource, &$0) } }
    #endif

    private static func limit(_ call: (inout rlimit) -> Int32) -> Int? {
        var limit = rlimit()
        guard call(&limit) == 0 else { return nil }
        return Int(exactly: limit.rlim_cur).flatMap { $0 < Int.max >> 1 ? $0 : nil }
    }

    /// Maps in a part of a file with one call instead of page by page.
    package static func expectReads(_ bytes: UnsafeRawBufferPointer) {
        #if os(Linux)
            let pages = pages(of: bytes)
            // MADV_POPULATE_READ; older kernels refuse, and load page by page.
            madvise(pages.baseAddress, pages.count, 22)
        #endif
    }

    /// Drops a part of a mapped file from this process' memory. It is read again when needed.
    package static func dropPages(_ bytes: UnsafeRawBufferPointer) {
        let pages = pages(of: bytes)
        madvise(pages.baseAddress, pages.count, MADV_DONTNEED)
    }

    /// Returns the whole pages of bytes.
    private static func pages(of bytes: UnsafeRawBufferPointer) -> UnsafeMutableRawBufferPointer {
        let size = Int(sysconf(Int32(_SC_PAGESIZE)))
        guard let start = bytes.baseAddress else {
            return UnsafeMutableRawBufferPointer(start: nil, count: 0)
        }
        let before = Int(bitPattern: start) % size
        return UnsafeMutableRawBufferPointer(
            start: UnsafeMutableRawPointer(mutating: start - before), count: before + bytes.count)
    }

    package static func unmap(_ base: UnsafeMutableRawPointer, count: Int) {
        munmap(base, count)
    }

    /// Moves a file into place atomically, replacing an existing one.
    package static func replace(_ target: String, with source: String) throws(SystemError) {
        guard rename(source.cPath, target.cPath) == 0 else { throw SystemError.last }
    }
}
