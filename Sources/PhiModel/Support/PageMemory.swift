/// A large block of memory, aligned for vectors, on large pages where the system has them.
final class PageMemory: @unchecked Sendable {
    let base: UnsafeMutableRawPointer
    let count: Int

    /// Untouched pages cost nothing.
    init(count: Int) {
        let page = 2 << 20
        let large = count >= 2 * page
        self.count = large ? (count + page - 1) / page * page : max(1, count)
        base = .allocate(byteCount: self.count, alignment: large ? page : 4096)
        if large { Platform.preferHugePages(base, count: self.count) }
    }

    deinit { base.deallocate() }
}
