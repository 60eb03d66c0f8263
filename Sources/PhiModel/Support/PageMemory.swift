import Errors
import OperatingSystem

/// A large block of zeroed memory, aligned for vectors, on large pages if the system has them.
package final class PageMemory: Sendable {
    // C memory: users of its parts synchronize their writes.
    package nonisolated(unsafe) let base: UnsafeMutableRawPointer
    package let count: Int

    /// Allocates the block. Untouched pages cost nothing, except against `ulimit`.
    /// - Parameter left: bytes that must stay available beyond it.
    /// - Throws: `UserError` of kind `resources` if there is no such room.
    package init(count: Int, leaving left: Int = Memory.spare) throws(UserError) {
        let page = 2 << 20
        let large = count >= 2 * page
        do throws(SystemError) {
            self.count = large ? count.rounded(up: page) : max(1, count)
            base = try Memory.reserve(self.count, alignment: large ? page : 4096, leaving: left)
        } catch {
            throw UserError(
                .resources,
                "there is not enough memory: \(byteText(count)) more can't be had: \(error.reason). "
                    + "End other programs, raise the limit (ulimit -v, ulimit -d), or take a smaller model.")
        }
        if large { Memory.preferHugePages(base, count: self.count) }
    }

    deinit { Memory.unmap(base, count: count) }
}
