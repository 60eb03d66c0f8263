/// Locations of answers by the first bytes of their keys: two words each, in one table with open addressing, so that a
/// million take 32 MB. Keys with the same first bytes share a place; the record there has the whole key.
struct AnswerIndex {
    /// First bytes of the keys; 0 for an empty slot.
    private var keys: [UInt64]
    private var places: [UInt64]
    private(set) var count = 0

    private static let gone = UInt64.max

    /// - Parameter capacity: a power of two.
    init(capacity: Int = 1 << 10) {
        keys = Array(repeating: 0, count: capacity)
        places = Array(repeating: Self.gone, count: capacity)
    }

    /// Memory in bytes.
    var byteCount: Int { (keys.capacity + places.capacity) * MemoryLayout<UInt64>.stride }

    subscript(_ key: UInt64) -> Location? {
        let place = places[slot(of: key)]
        return place == Self.gone ? nil : Location(packed: place)
    }

    /// Sets the place of a key, replacing an earlier one.
    mutating func set(_ key: UInt64, _ place: Location) {
        if 5 * (count + 1) > 4 * keys.count { grow() }
        put(key, place.packed)
    }

    mutating func remove(_ key: UInt64) { places[slot(of: key)] = Self.gone }

    private mutating func put(_ key: UInt64, _ place: UInt64) {
        let slot = slot(of: key)
        if keys[slot] == 0 { count += 1 }
        keys[slot] = max(1, key)
        places[slot] = place
    }

    /// Returns the slot of a key, or the one for its insertion.
    private func slot(of key: UInt64) -> Int {
        let key = max(1, key)
        let mask = UInt64(keys.count - 1)
        var slot = Int(key & mask)
        while keys[slot] != 0, keys[slot] != key { slot = Int(UInt64(slot + 1) & mask) }
        return slot
    }

    private mutating func grow() {
        let old = self
        self = AnswerIndex(capacity: 2 * old.keys.count)
        for (key, place) in zip(old.keys, old.places) where key != 0 && place != Self.gone { put(key, place) }
    }

    /// Location of a record.
    struct Location: Equatable {
        /// Number of its segment.
        var segment: Int
        var offset: Int

        static let offsetLimit = 1 << 40
        static let segmentLimit = 1 << 23

        init(segment: Int, offset: Int) {
            precondition(segment < Self.segmentLimit && offset < Self.offsetLimit)
            (self.segment, self.offset) = (segment, offset)
        }

        fileprivate init(packed: UInt64) {
            (segment, offset) = (Int(packed >> 40), Int(packed & UInt64(Self.offsetLimit - 1)))
        }

        fileprivate var packed: UInt64 { UInt64(segment) << 40 | UInt64(offset) }
    }
}
