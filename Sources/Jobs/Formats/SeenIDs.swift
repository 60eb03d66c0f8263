import OperatingSystem

/// The ids met so far, by 96 bits of a hash: enough that two ids are never taken for one by chance (of a
/// billion, once in 10^11 runs).
///
/// Tables with open addressing, at most five sixths full: 15 to 18 bytes an id. There are several, which grow one after
/// the other, so that no more than one of them is in memory twice.
package struct SeenIDs {
    private struct Digest: Equatable, BitwiseCopyable {
        /// Where it is looked for.
        var place: UInt32 = 0
        var table: UInt32 = 0
        var rest: UInt32 = 0
    }

    private var tables = [Table](repeating: Table(), count: 64)

    package init() {}

    /// - Returns: false if the id was met before.
    package mutating func insert(_ id: String) -> Bool {
        let digest = SHA.sha256(of: id.utf8).withUnsafeBytes { $0.loadUnaligned(as: Digest.self) }
        return tables[Int(digest.table % 64)].insert(digest)
    }

    private struct Table {
        private var slots = [Digest](repeating: Digest(), count: 16)
        private var count = 0

        mutating func insert(_ digest: Digest) -> Bool {
            guard let slot = freeSlot(for: digest) else { return false }
            slots[slot] = digest
            count += 1
            if count * 6 > slots.count * 5 { grow() }
            return true
        }

        /// Nil if it is there.
        private func freeSlot(for digest: Digest) -> Int? {
            var slot = Int((UInt64(digest.place) * UInt64(slots.count)) >> 32)
            while slots[slot] != Digest() {
                if slots[slot] == digest { return nil }
                slot = slot + 1 == slots.count ? 0 : slot + 1
            }
            return slot
        }

        private mutating func grow() {
            let full = slots
            slots = [Digest](repeating: Digest(), count: full.count + full.count / 4)
            for digest in full where digest != Digest() {
                if let slot = freeSlot(for: digest) { slots[slot] = digest }
            }
        }
    }
}
