/// Token texts and ids, both ways, in flat arrays.
struct Vocabulary: Sendable {
    private var bytes: [UInt8] = []
    /// Entry e is `bytes[starts[e] ..< starts[e + 1]]`.
    private var starts: [UInt32] = [0]
    private var ids: [Int32] = []
    /// Open addressing: entry + 1, or 0.
    private var slots = [UInt32](repeating: 0, count: 1024)
    /// Entry + 1, or 0, at each id.
    private var entryOfID: [UInt32] = []

    var count: Int { ids.count }
    /// One more than the highest id.
    var idLimit: Int { entryOfID.count }

    /// - Parameter id: 0 or above; memory is proportional to the highest id.
    /// - Returns: false if the text or the id is there already.
    mutating func insert(_ text: UnsafeBufferPointer<UInt8>, id: Int) -> Bool {
        if 2 * ids.count >= slots.count { grow() }
        let slot = slot(of: text)
        guard slots[slot] == 0 else { return false }
        if id >= entryOfID.count {
            entryOfID += [UInt32](repeating: 0, count: id + 1 - entryOfID.count)
        }
        guard entryOfID[id] == 0 else { return false }
        bytes.append(contentsOf: text)
        starts.append(UInt32(bytes.count))
        ids.append(Int32(id))
        slots[slot] = UInt32(ids.count)
        entryOfID[id] = UInt32(ids.count)
        return true
    }

    func id(of text: UnsafeBufferPointer<UInt8>) -> Int32? {
        let entry = slots[slot(of: text)]
        return entry == 0 ? nil : ids[Int(entry) - 1]
    }

    func id(of text: some Sequence<UInt8>) -> Int32? {
        Array(text).withUnsafeBufferPointer { id(of: $0) }
    }

    /// Returns a token's text in the file.
    func text(of id: Int32) -> ArraySlice<UInt8>? {
        guard id >= 0, Int(id) < entryOfID.count, entryOfID[Int(id)] > 0 else { return nil }
        return text(ofEntry: Int(entryOfID[Int(id)]) - 1)
    }

    /// Returns the characters of that text; none for an unused id.
    func scalars(of id: Int32) -> String.UnicodeScalarView {
        String(decoding: text(of: id) ?? [], as: UTF8.self).unicodeScalars
    }

    private func text(ofEntry entry: Int) -> ArraySlice<UInt8> {
        bytes[Int(starts[entry])..<Int(starts[entry + 1])]
    }

    /// Returns the slot of `text`, or the one for its insertion.
    private func slot(of text: UnsafeBufferPointer<UInt8>) -> Int {
        let mask = slots.count - 1
        var slot = Int(truncatingIfNeeded: ByteHash.hash(text)) & mask
        while slots[slot] != 0 {
            let entry = Int(slots[slot]) - 1
            let start = Int(starts[entry])
            let isSame =
                Int(starts[entry + 1]) - start == text.count
                && bytes.withUnsafeBufferPointer { $0[start..<start + text.count].elementsEqual(text) }
            if isSame { return slot }
            slot = (slot + 1) & mask
        }
        return slot
    }

    private mutating func grow() {
        slots = [UInt32](repeating: 0, count: 4 * slots.count)
        let mask = slots.count - 1
        bytes.withUnsafeBufferPointer { bytes in
            for entry in ids.indices {
                let text = UnsafeBufferPointer(
                    rebasing: bytes[Int(starts[entry])..<Int(starts[entry + 1])])
                var slot = Int(truncatingIfNeeded: ByteHash.hash(text)) & mask
                while slots[slot] != 0 { slot = (slot + 1) & mask }
                slots[slot] = UInt32(entry + 1)
            }
        }
    }
}
