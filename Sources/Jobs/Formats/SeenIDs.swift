import OperatingSystem

/// The ids met so far, by 128 bits of a hash: enough that two ids are never taken for one by chance.
///
/// A table with open addressing, at most three quarters full: 21 to 43 bytes an id.
package struct SeenIDs {
    private typealias Digest = SIMD2<UInt64>

    private var slots = [Digest](repeating: .zero, count: 1 << 10)
    private var count = 0

    package init() {}

    /// - Returns: false if the id was met before.
    package mutating func insert(_ id: String) -> Bool {
        let digest = SHA.sha256(of: id.utf8).withUnsafeBytes { $0.load(as: Digest.self) }
        guard let slot = freeSlot(for: digest) else { return false }
        slots[slot] = digest
        count += 1
        if count * 4 > slots.count * 3 { grow() }
        return true
    }

    /// Nil if it is there.
    private func freeSlot(for digest: Digest) -> Int? {
        var slot = Int(truncatingIfNeeded: digest.x) & (slots.count - 1)
        while slots[slot] != .zero {
            if slots[slot] == digest { return nil }
            slot = (slot + 1) & (slots.count - 1)
        }
        return slot
    }

    private mutating func grow() {
        let full = slots
        slots = [Digest](repeating: .zero, count: 2 * full.count)
        for digest in full where digest != .zero {
            if let slot = freeSlot(for: digest) { slots[slot] = digest }
        }
    }
}
