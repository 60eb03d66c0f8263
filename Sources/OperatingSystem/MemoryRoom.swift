/// Whether limits of this process (`ulimit -v`, `ulimit -d`) leave room for more memory. Swift's own allocations
/// crash where there is none; so it is asked for before, with room to spare.
package enum MemoryRoom {
    /// What a program that has nothing large to do gets along with.
    package static let least = 48 << 20

    /// What must be left after each large block: Swift's own small allocations can't fail without a crash.
    package static let spare = 32 << 20

    /// Maps so many bytes and gives them back.
    package static func isThere(for bytes: Int) -> Bool { FileCalls.canMap(bytes) }
}
