import FoundationShim

/// Memory of this process, by the page, and its limits.
package enum Memory {
    /// Memory that a program without large tasks needs.
    package static let least = 48 << 20
    /// Memory to leave after each large block, as Swift's small allocations crash on failure.
    package static let spare = 32 << 20
    private static let pageSize = Int(sysconf(Int32(_SC_PAGESIZE)))
    #if os(Linux)
        // Pages that are never touched need not be promised.
        private static let newPages = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
    #else
        private static let newPages = MAP_PRIVATE | MAP_ANON
    #endif

    /// Whether limits of this process (`ulimit -v`, `ulimit -d`) leave room for so many bytes, which are mapped and
    /// unmapped. Swift's allocations crash without it, so callers ask first, with a margin.
    package static func hasRoom(for bytes: Int) -> Bool {
        guard let base = mmap(nil, bytes, PROT_READ | PROT_WRITE, newPages, -1, 0), base != MAP_FAILED else {
            return false
        }
        munmap(base, bytes)
        return true
    }

    /// Allocates zeroed memory.
    /// - Parameters:
    ///   - count: bytes.
    ///   - alignment: a power of two.
    ///   - left: bytes that must stay available beyond it.
    package static func reserve(_ count: Int, alignment: Int, leaving left: Int) throws(SystemError)
        -> UnsafeMutableRawPointer
    {
        let extra = max(0, alignment - pageSize)
        guard let base = mmap(nil, count + extra, PROT_READ | PROT_WRITE, newPages, -1, 0), base != MAP_FAILED
        else { throw SystemError.last }
        // Memory before the first aligned address and after the end is unmapped.
        let start = Int(bitPattern: base)
        let skipped = (start + alignment - 1) / alignment * alignment - start
        let end = (skipped + count + pageSize - 1) / pageSize * pageSize
        if skipped > 0 { munmap(base, skipped) }
        if end < count + extra { munmap(base + end, count + extra - end) }
        guard hasRoom(for: left) else {
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
        guard let start = bytes.baseAddress else {
            return UnsafeMutableRawBufferPointer(start: nil, count: 0)
        }
        let before = Int(bitPattern: start) % pageSize
        return UnsafeMutableRawBufferPointer(
            start: UnsafeMutableRawPointer(mutating: start - before), count: before + bytes.count)
    }

    package static func unmap(_ base: UnsafeMutableRawPointer, count: Int) { munmap(base, count) }

    /// The most memory that this process had so far, in bytes.
    package static var peakMemory: Int? {
        var usage = rusage()
        #if canImport(Glibc)
            guard getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0 else { return nil }
        #else
            guard getrusage(RUSAGE_SELF, &usage) == 0 else { return nil }
        #endif
        // Apple's systems report bytes.
        #if canImport(Darwin)
            return Int(usage.ru_maxrss)
        #else
            return Int(usage.ru_maxrss) * 1024
        #endif
    }
}
