/// Checks whether limits of this process (`ulimit -v`, `ulimit -d`) leave room for more memory. Swift's allocations
/// crash without it, so callers ask first, with a margin.
package enum MemoryRoom {
    /// Memory that a program without large tasks needs.
    package static let least = 48 << 20

    /// Memory to leave after each large block, as Swift's small allocations crash on failure.
    package static let spare = 32 << 20

    /// Maps so many bytes and unmaps them.
    package static func isThere(for bytes: Int) -> Bool { FileCalls.canMap(bytes) }
}
