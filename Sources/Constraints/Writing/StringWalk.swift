import BatchEngine

/// What the tokens do in a string of certain texts, from one state of its contents: which of them stay in it, and which
/// end it. Bounds on its length play no part in it.
struct StringWalk {
    struct Key: Hashable {
        var string: Int32
        var state: Int32
    }

    /// Tokens in a row of the trie that lead to the same state with equally many scalars.
    struct Run {
        /// Its place in `ends`.
        let end: Int32
        let from: Int32
        var to: Int32
    }

    /// Where tokens lead. Scalars are 0 where they are not counted.
    struct End: Hashable {
        let state: Int32
        let scalars: Int32
    }

    var runs: [Run] = []
    /// Each once.
    var ends: [End] = []
    /// The most bytes of a way from where a token leads to an end of the contents, bounds on their length left out.
    var mostBytes = 0
    /// All tokens that stay.
    var staying: TokenMask
    /// Nodes of the trie to which the closing quote leads, with the scalars before it.
    var exits: [(node: Int, scalars: Int)] = []

    /// About how many bytes it takes.
    var bytes: Int { staying.count / 8 + 16 * exits.count + 12 * runs.count + 8 * ends.count }
}

extension StringText {
    /// The state and the count after one more byte that is not the closing quote; nil if no text goes on that way.
    func next(_ state: Int32, _ count: Int, _ byte: UInt8) -> (state: Int32, count: Int)? {
        let next = contents.next(state, byte)
        guard next >= 0 else { return nil }
        var after = count
        if contents.isBetweenScalars(next) {
            after += 1
            if let most = maxLength, after > most { return nil }
        } else if let most = maxLength, count >= most {
            return nil
        }
        if !isFree, fewestBytes(next, count: after) == nil { return nil }
        return (next, maxLength == nil ? min(after, minLength) : after)
    }
}

extension Writer {
    /// A place in a string, so many scalars further in the same state.
    func place(_ place: Place, after scalars: Int) -> Place {
        var after = place
        let string = strings[Int(place.a)]
        after.c += Int32(scalars)
        if string.maxLength == nil { after.c = min(after.c, Int32(string.minLength)) }
        return after
    }

    func walk(_ key: StringWalk.Key, _ tokens: TokenTrie) -> StringWalk {
        if let known = stringWalks[key] { return known }
        let string = strings[Int(key.string)]
        let walk = StringWalk(
            string.contents, from: key.state, tokens,
            isCounted: string.maxLength != nil || string.minLength > 0)
        keep(walk, for: key)
        return walk
    }
}

extension StringWalk {
    /// Goes through all tokens that begin in a state.
    /// - Parameter isCounted: whether the numbers of scalars matter.
    init(_ contents: any ByteAutomaton, from start: Int32, _ tokens: TokenTrie, isCounted: Bool) {
        staying = TokenMask(count: tokens.count)
        // Compiled for the type that texts mostly have, as every byte asks it.
        if let machine = contents as? MachineText {
            walk(machine, from: start, tokens, isCounted: isCounted)
        } else {
            walk(contents, from: start, tokens, isCounted: isCounted)
        }
        for end in ends { mostBytes = max(mostBytes, contents.fewestBytes(end.state)) }
        for run in runs { staying.insert(contentsOf: tokens.ids[Int(run.from)..<Int(run.to)]) }
    }

    private mutating func walk<Text: ByteAutomaton>(
        _ contents: Text, from start: Int32, _ tokens: TokenTrie, isCounted: Bool
    ) {
        tokens.nodes.withView { walk(contents, from: start, tokens, $0, isCounted: isCounted) }
    }

    private mutating func walk<Text: ByteAutomaton>(
        _ contents: Text, from start: Int32, _ tokens: TokenTrie, _ nodes: TrieNodes.View, isCounted: Bool
    ) {
        let states = UnsafeMutablePointer<Int32>.allocate(capacity: tokens.longest + 2)
        let counts = UnsafeMutablePointer<Int>.allocate(capacity: tokens.longest + 2)
        defer {
            states.deallocate()
            counts.deallocate()
        }
        (states[0], counts[0]) = (start, 0)
        var places = EndPlaces()
        var loops = LoopCache()
        var node = 1
        while node < nodes.count {
            let depth = Int(nodes.depth[node])
            let (state, scalars) = (states[depth - 1], counts[depth - 1])
            let byte = nodes.byte[node]
            let end = Int(nodes.end[node])
            if byte == UInt8(ascii: "\""), contents.isBetweenScalars(state) {
                if contents.isFinal(state) { exits.append((node, scalars)) }
                node = end
                continue
            }
            let next = contents.next(state, byte)
            guard next >= 0 else {
                node = end
                continue
            }
            let isBetween = contents.isBetweenScalars(next)
            let count = scalars + (isBetween ? 1 : 0)
            (states[depth], counts[depth]) = (next, count)
            // Where all bytes below lead back to a state, all tokens below stay in it.
            if end - node > 1 {
                let isBack = next == state && isBetween
                let isWide = !isBetween && byte >= 0xC2 && contents.isBetweenScalars(state)
                if isBack || isWide,
                    loops.classes(of: state, contents).holds(nodes, node, fromWithin: isWide)
                {
                    let (from, to) = (Int(nodes.first[node]), Int(nodes.first[end]))
                    if isCounted {
                        // The scalar that is begun here is one of those below.
                        let before = scalars + 1 - Int(nodes.scalars[node])
                        for rank in from..<to {
                            add(rank..<(rank + 1), state, before + Int(tokens.scalars[rank]), &places)
                        }
                    } else {
                        add(from..<to, state, 0, &places)
                    }
                    node = end
                    continue
                }
            }
            let (from, to) = (Int(nodes.first[node]), Int(nodes.first[node + 1]))
            if from < to { add(from..<to, next, isCounted ? count : 0, &places) }
            node += 1
        }
    }

    private mutating func add(
        _ ranks: Range<Int>, _ state: Int32, _ scalars: Int, _ places: inout EndPlaces
    ) {
        let end = places.place(of: End(state: state, scalars: Int32(scalars)), in: &ends)
        let last = runs.count - 1
        if last >= 0, runs[last].end == end, runs[last].to == ranks.lowerBound {
            runs[last].to = Int32(ranks.upperBound)
            return
        }
        runs.append(Run(end: end, from: Int32(ranks.lowerBound), to: Int32(ranks.upperBound)))
    }
}

/// Finds the places of ends: open addressing, as it is asked for nearly every token.
private struct EndPlaces {
    /// Places plus 1; 0 is free.
    private var slots = [Int32](repeating: 0, count: 1 << 10)

    mutating func place(of end: StringWalk.End, in ends: inout [StringWalk.End]) -> Int32 {
        var slot = Self.hash(end) & (slots.count - 1)
        while slots[slot] != 0 {
            if ends[Int(slots[slot]) - 1] == end { return slots[slot] - 1 }
            slot = (slot + 1) & (slots.count - 1)
        }
        ends.append(end)
        slots[slot] = Int32(ends.count)
        if 2 * ends.count > slots.count { grow(ends) }
        return Int32(ends.count - 1)
    }

    private mutating func grow(_ ends: [StringWalk.End]) {
        slots = [Int32](repeating: 0, count: 4 * slots.count)
        for (place, end) in ends.enumerated() {
            var slot = Self.hash(end) & (slots.count - 1)
            while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
            slots[slot] = Int32(place + 1)
        }
    }

    private static func hash(_ end: StringWalk.End) -> Int {
        let key = UInt64(UInt32(bitPattern: end.state)) << 16 ^ UInt64(UInt32(bitPattern: end.scalars))
        return Int(truncatingIfNeeded: (key &* 0x9e37_79b9_7f4a_7c15) >> 32)
    }
}

/// What was found of states during a walk.
private struct LoopCache {
    private var known: [Int32: LoopClasses] = [:]
    private var last: (state: Int32, classes: LoopClasses)?

    mutating func classes(of state: Int32, _ text: any ByteAutomaton) -> LoopClasses {
        if let last, last.state == state { return last.classes }
        let classes = known[state] ?? LoopClasses(text, state)
        known[state] = classes
        last = (state, classes)
        return classes
    }
}

/// Which bytes lead from a state back to it.
private struct LoopClasses {
    /// The classes of bytes that do so alone.
    var ascii: UInt64 = 0
    /// Whether all scalars do that take several bytes.
    var isWide: Bool

    init(_ text: any ByteAutomaton, _ state: Int32) {
        var broken: UInt64 = ByteClass.wide
        for byte in UInt8.min..<0x80 where text.next(state, byte) != state {
            broken |= 1 << UInt64(ByteClass.of(byte))
        }
        ascii = ~broken
        isWide = Self.allLead(
            text, state, to: state,
            [
                [0xC2...0xDF, 0x80...0xBF], [0xE0...0xE0, 0xA0...0xBF, 0x80...0xBF],
                [0xE1...0xEC, 0x80...0xBF, 0x80...0xBF], [0xED...0xED, 0x80...0x9F, 0x80...0xBF],
                [0xEE...0xEF, 0x80...0xBF, 0x80...0xBF],
                [0xF0...0xF0, 0x90...0xBF, 0x80...0xBF, 0x80...0xBF],
                [0xF1...0xF3, 0x80...0xBF, 0x80...0xBF, 0x80...0xBF],
                [0xF4...0xF4, 0x80...0x8F, 0x80...0xBF, 0x80...0xBF],
            ])
    }

    /// Whether all texts below a node lead back to the state.
    /// - Parameter fromWithin: whether the node's byte is the first of several of a scalar.
    func holds(_ nodes: TrieNodes.View, _ node: Int, fromWithin: Bool) -> Bool {
        let others = nodes.classes[node] & ~ascii
        if others == 0, !fromWithin { return true }
        guard isWide, nodes.isWhole[node], others & ~ByteClass.wide == 0 else { return false }
        return !fromWithin || nodes.first[node] == nodes.first[node + 1]
    }

    /// Whether every text with one byte of each range leads from one state to the other.
    private static func allLead(
        _ text: any ByteAutomaton, _ state: Int32, to end: Int32, _ forms: [[ClosedRange<UInt8>]]
    ) -> Bool {
        forms.allSatisfy { ranges in
            var states: Set<Int32> = [state]
            for range in ranges {
                var next: Set<Int32> = []
                for state in states {
                    for byte in range {
                        let after = text.next(state, byte)
                        if after < 0 { return false }
                        next.insert(after)
                    }
                }
                states = next
            }
            return states == [end]
        }
    }
}
