import OperatingSystem

import struct Synchronization.Atomic

/// A list that only grows. Elements stay in place, in blocks; so they are read without a lock while others are added.
///
/// A thread may read an element once it has the index from one that knows it.
// Unchecked, as elements are in C memory: each is written before its index is shared.
final class SharedList<Element: ~Copyable & Sendable>: @unchecked Sendable {
    private let blocks = UnsafeMutablePointer<UnsafeMutablePointer<Element>>.allocate(capacity: mostBlocks)
    /// The first block, which most reads use.
    private let first = UnsafeMutablePointer<Element>.allocate(capacity: blockLength)
    private let lock = Mutex()
    private let length = Atomic<Int>(0)

    private static var blockLength: Int { 1024 }
    /// For more elements than memory holds. Untouched parts of the list of blocks need none.
    private static var mostBlocks: Int { 1 << 14 }

    deinit {
        for place in 0..<count { element(place).deinitialize(count: 1) }
        for start in stride(from: Self.blockLength, to: count, by: Self.blockLength) {
            blocks[start / Self.blockLength].deallocate()
        }
        first.deallocate()
        blocks.deallocate()
    }

    var count: Int { length.load(ordering: .relaxed) }

    /// - Returns: its index.
    @discardableResult func append(_ new: consuming Element) -> Int {
        lock.lock()
        defer { lock.unlock() }
        let place = count
        if place > 0, place % Self.blockLength == 0 {
            let number = place / Self.blockLength
            precondition(number < Self.mostBlocks, "memory ends before")
            (blocks + number).initialize(to: .allocate(capacity: Self.blockLength))
        }
        element(place).initialize(to: new)
        length.store(place + 1, ordering: .relaxed)
        return place
    }

    @inline(__always) subscript(place: Int) -> Element {
        _read { yield element(place).pointee }
    }

    @inline(__always) private func element(_ place: Int) -> UnsafeMutablePointer<Element> {
        if place < Self.blockLength { return first + place }
        let place = UInt(bitPattern: place)
        return blocks[Int(place / UInt(Self.blockLength))] + Int(place % UInt(Self.blockLength))
    }
}

extension SharedList {
    /// Replaces an element that no other thread knows of.
    func replace(_ place: Int, by new: Element) { element(place).pointee = new }
}
