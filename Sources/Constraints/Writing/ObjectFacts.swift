/// What follows from an object shape alone.
struct ObjectFacts {
    let shape: ObjectShape
    let names: MemberNames
    let reserved: NameTrie
    let colon: [UInt8]
    /// At i: how many members from the i-th on are required.
    let requiredFrom: [Int32]
    /// At i: the first required member from the i-th on; the number of members if there is none.
    let nextRequired: [Int32]
    /// How many free names there are; nil if there is no end to them.
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
        guard let free = shape.free else {
            freeCount = 0
            return
        }
        freeCount =
            free.names.accepted(reservedTexts).isEmpty
            ? free.nameCount(free.names.start)
            : free.nameCount(free.names.start).map { $0 - free.names.accepted(reservedTexts).count }
    }
}

extension ByteAutomaton {
    /// Those of some texts that lead from a state to an end, each once.
    func accepted(_ texts: [[UInt8]], from state: Int32? = nil) -> Set<[UInt8]> {
        Set(texts).filter { text in
            var state = state ?? start
            for byte in text {
                state = next(state, byte)
                if state < 0 { return false }
            }
            return isFinal(state)
        }
    }
}

/// Sets of names that an object has had. Set 0 is empty.
struct NameSets {
    private struct Key: Hashable {
        var set: Int32
        var name: [UInt8]
    }

    private var counts = [0]
    private var roots: [Int32] = [-1]
    // Of each set the one before, and the name that it has besides.
    private var lasts: [Key] = [Key(set: 0, name: [])]
    private var known: [Key: Int32] = [:]
    private(set) var trie = NameTrie()
    private(set) var bytes = 0

    /// The set with one more name.
    mutating func adding(_ name: [UInt8], to set: Int32) -> Int32 {
        let key = Key(set: set, name: name)
        if let known = known[key] { return known }
        let before = trie.bytes
        roots.append(trie.root(of: roots[Int(set)], with: name))
        counts.append(counts[Int(set)] + 1)
        lasts.append(key)
        bytes += trie.bytes - before + name.count + 150
        known[key] = Int32(counts.count - 1)
        return Int32(counts.count - 1)
    }

    /// The node of the trie where a set's names begin; -1 if it is empty.
    func root(of set: Int32) -> Int32 { roots[Int(set)] }
    func count(of set: Int32) -> Int { counts[Int(set)] }

    /// The names of a set, in the order in which they were added.
    func names(of set: Int32) -> [[UInt8]] {
        var names: [[UInt8]] = []
        var set = set
        while set > 0 {
            names.append(lasts[Int(set)].name)
            set = lasts[Int(set)].set
        }
        return names.reversed()
    }
}
