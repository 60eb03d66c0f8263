import OperatingSystem

import struct Synchronization.Atomic

/// Properties of an object shape. A class, as every step uses it, and it has many lists.
final class ObjectFacts: Sendable {
    let shape: ObjectShape
    let names: MemberNames
    let reserved: NameTrie
    let colon: [UInt8]
    /// At i: the number of required members from the i-th on.
    let requiredFrom: [Int32]
    /// At i: the first required member from the i-th on; the number of members if there is none.
    let nextRequired: [Int32]
    /// Number of free names; nil for infinitely many.
    let freeCount: Int?

    init(_ shape: ObjectShape, colon: [UInt8]) {
        self.shape = shape
        self.colon = colon
        names = MemberNames(shape, colon: colon)
        let reservedTexts = shape.reserved.map { JSONSpelling.contents(of: $0) }
        reserved = NameTrie(reservedTexts)
        let count = shape.members.count
        var requiredFrom = [Int32](repeating: 0, count: count + 1)
        var nextRequired = [Int32](repeating: Int32(count), count: count + 1)
        for place in stride(from: count - 1, through: 0, by: -1) {
            let isRequired = shape.members[place].isRequired
            requiredFrom[place] = requiredFrom[place + 1] + (isRequired ? 1 : 0)
            nextRequired[place] = isRequired ? Int32(place) : nextRequired[place + 1]
        }
        self.requiredFrom = requiredFrom
        self.nextRequired = nextRequired
        if let names = shape.free?.names {
            freeCount = names.nameCount(names.start).map { $0 - names.accepted(reservedTexts).count }
        } else {
            freeCount = 0
        }
    }
}

extension ByteAutomaton {
    /// Returns the texts that lead from a state to an end, each once.
    func accepted(_ texts: [[UInt8]], from state: Int32? = nil) -> Set<[UInt8]> {
        Set(texts).filter { end(of: $0, from: state) != nil }
    }
}

/// Sets of names that an object has had. Set 0 is empty. Safe to use from several threads.
final class NameSets: Sendable {
    private struct Key: Hashable {
        var set: Int32
        var name: [UInt8]
    }

    private struct Content {
        var counts = [0]
        var roots: [Int32] = [-1]
        var known: [Key: Int32] = [:]
        var trie = NameTrie()
        var bytes = 0

        mutating func adding(_ key: Key) -> Int32 {
            if let known = known[key] { return known }
            let before = trie.bytes
            roots.append(trie.root(of: roots[Int(key.set)], with: key.name))
            counts.append(counts[Int(key.set)] + 1)
            bytes += trie.bytes - before + key.name.count + 150
            known[key] = Int32(counts.count - 1)
            return Int32(counts.count - 1)
        }
    }

    private let content = Mutex(Content())
    private let byteCount = Atomic<Int>(0)

    /// Its approximate bytes.
    var bytes: Int { byteCount.load(ordering: .relaxed) }

    /// The set with one more name.
    func adding(_ name: [UInt8], to set: Int32) -> Int32 {
        content.withLock { content in
            let number = content.adding(Key(set: set, name: name))
            byteCount.store(content.bytes, ordering: .relaxed)
            return number
        }
    }

    /// The node of the trie where a set's names begin; -1 if it is empty.
    func root(of set: Int32) -> Int32 { content.withLock { $0.roots[Int(set)] } }
    func count(of set: Int32) -> Int { content.withLock { $0.counts[Int(set)] } }

    // MARK: The trie of all sets' names

    func child(of node: Int32, _ byte: UInt8) -> Int32? { content.withLock { $0.trie.child(of: node, byte) } }
    func isEnd(_ node: Int32) -> Bool { content.withLock { $0.trie.isEnd(node) } }
    func texts(below node: Int32) -> [[UInt8]] { content.withLock { $0.trie.texts(below: node) } }
}
