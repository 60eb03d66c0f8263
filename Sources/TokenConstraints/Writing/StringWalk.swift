import BatchEngine

/// The effects of tokens in a string or a free name of certain texts, from one state of its contents: staying or
/// ending. Independent of bounds on its length, and of taken names.
struct StringWalk {
    struct Key: Hashable {
        /// The string, or the object with the names.
        var shape: Int32
        var isName = false
        var state: Int32
    }

    /// Consecutive tokens of the list that lead to the same end.
    struct Run {
        /// Its index in `ends`.
        let end: Int32
        let from: Int32
        let to: Int32
    }

    /// The end of a token.
    struct End {
        let state: Int32
        /// The scalars that a token completes minus those that begin in it: negative with escapes.
        let more: Int32
        /// Numbers of scalars that begin in the tokens that lead here; empty if not counted.
        var scalars: ScalarCounts
    }

    /// The tokens of runs.
    private(set) var list: TokenList
    var runs: [Run] = []
    /// Each once.
    var ends: [End] = []
    /// The most bytes from a token's end to an end of the contents, without bounds on their length.
    var mostBytes = 0
    /// All tokens that stay.
    var staying: TokenMask
    /// All tokens that end it, by what follows; after names that is the member's value.
    var exits: [Int: TokenMask] = [:]

    /// Its approximate bytes.
    var bytes: Int { staying.count / 8 * (1 + exits.count) + 12 * runs.count + 40 * ends.count }
}

/// A set of numbers of scalars. Very large numbers are represented by all numbers up to the most.
struct ScalarCounts {
    private(set) var few: UInt64 = 0
    private(set) var most = 0

    mutating func insert(_ count: Int) {
        if count < 64 { few |= 1 << UInt64(count) }
        most = max(most, count)
    }

    var isEmpty: Bool { few == 0 && most == 0 }

    var numbers: [Int] {
        let few = (0..<64).filter { self.few >> UInt64($0) & 1 == 1 }
        return most < 64 ? few : few + (64...most)
    }
}

/// The numbers of scalars that a token may have.
struct AdmittedCounts {
    private(set) var areAll = true
    private(set) var areSome = false
    private var few: UInt64 = 0
    private var many: Set<Int> = []

    mutating func add(_ count: Int, _ isIn: Bool) {
        areAll = areAll && isIn
        areSome = areSome || isIn
        guard isIn else { return }
        if count < 64 { few |= 1 << UInt64(count) } else { many.insert(count) }
    }

    func contains(_ count: Int) -> Bool {
        count < 64 ? few >> UInt64(count) & 1 == 1 : many.contains(count)
    }
}

extension StringText {
    /// The state and the count after one more byte that is not the closing quote; nil if no text continues so.
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

extension JSONAutomaton {
    /// A place in a string, so many scalars later in the same state.
    func place(_ place: Place, after scalars: Int) -> Place {
        var after = place
        let string = strings[Int(place.a)]
        after.c += Int32(scalars)
        if string.maxLength == nil { after.c = min(after.c, Int32(string.minLength)) }
        return after
    }

    /// - Parameter needsRuns: whether the end of each token matters.
    func walk(_ key: StringWalk.Key, _ tokens: TokenTrie, needsRuns: Bool) -> StringWalk {
        let free = key.isName ? objects[Int(key.shape)].shape.free : nil
        let string = key.isName ? nil : strings[Int(key.shape)]
        guard let contents = free?.names.contents ?? string?.contents else {
            preconditionFailure("an object with free names has them")
        }
        func kept(_ walk: StringWalk) -> StringWalk {
            var walk = walk
            walk.findExits(contents, from: key.state, tokens) { free?.target($0) ?? 0 }
            count(keptBytes: walk.bytes)
            return walk
        }
        guard needsRuns else {
            return wholeWalks.value(of: key) {
                guard let one = contents.oneState(from: key.state) else {
                    return kept(
                        StringWalk(contents, from: key.state, tokens, isCounted: false, needsRuns: false))
                }
                var walk = StringWalk(one.text, from: one.text.start, tokens, isCounted: false)
                walk.mostBytes = one.mostBytes
                return kept(walk)
            }
        }
        return stringWalks.value(of: key) {
            let isCounted = string.map { $0.maxLength != nil || $0.minLength > 0 } ?? false
            return kept(StringWalk(contents, from: key.state, tokens, isCounted: isCounted))
        }
    }
}

extension StringWalk {
    /// - Parameter kind: what follows the string, by its final state.
    fileprivate mutating func findExits(
        _ contents: MachineText, from start: Int32, _ tokens: TokenTrie, _ kind: (Int32) -> Int
    ) {
        let (ended, nodes) = (tokens.plainString.exitsByBeginning, tokens.plainString.beginnings)
        let bare = ended.count - nodes.texts(below: 0).to
        func add(_ tokens: ArraySlice<Int32>, in state: Int32, _ count: Int) {
            guard !tokens.isEmpty, contents.isFinal(state) else { return }
            exits[kind(state), default: TokenMask(count: count)].insert(contentsOf: tokens)
        }
        add(ended[..<bare], in: start, tokens.count)
        nodes.walk(
            from: start, next: { contents.next($0, $1) },
            visit: { node, state in
                let (from, to) = nodes.texts(at: node)
                add(ended[bare + from..<bare + to], in: state, tokens.count)
            })
    }

    /// More tokens than that are not visited one by one.
    private static let mostAlone = 1 << 14

    /// Visits all tokens that begin in a state.
    /// - Parameters:
    ///   - isCounted: whether the numbers of scalars matter.
    ///   - needsRuns: whether the end of each token matters.
    init(
        _ contents: MachineText, from start: Int32, _ tokens: TokenTrie, isCounted: Bool,
        needsRuns: Bool = true
    ) {
        staying = TokenMask(count: tokens.count)
        list = tokens.kinds.list
        let freedom = needsRuns ? nil : contents.freedom
        var found: RunList?
        // If letters or digits are distinguished at once, a walk through all texts is short, or needed anyway.
        if !ScalarKind.ofASCII.contains(where: { contents.next(start, ofKind: $0) == MachineText.several }) {
            tokens.kinds.nodes.withView { nodes in
                found = walk(
                    contents, from: start, tokens, nodes, freedom, isOfKinds: true, isCounted: isCounted)
            }
        }
        if found == nil {
            list = TokenList(ids: tokens.ids, scalars: tokens.scalars)
            tokens.nodes.withView { nodes in
                found = walk(
                    contents, from: start, tokens, nodes, freedom, isOfKinds: false, isCounted: isCounted)
            }
        }
        if let all = found?.finished() { (runs, ends) = all }
        if isCounted { countScalars() }
        let isEnd = found?.isEnd ?? []
        let states = isEnd.isEmpty ? ends.map(\.state) : isEnd.indices.filter { isEnd[$0] }.map { Int32($0) }
        for state in states { mostBytes = max(mostBytes, contents.fewestBytes(state)) }
        list.insert(runs.lazy.map { Int($0.from)..<Int($0.to) }, into: &staying)
        if found?.isFree ?? false {
            // Some of them are in no string, and their ends may be any states of the automaton.
            staying.formIntersection(tokens.plainString.all)
            mostBytes = contents.mostBytes
        }
    }

    /// - Parameters:
    ///   - freedom: of the contents, if the states where tokens end don't matter.
    ///   - isOfKinds: whether the nodes are those of kinds of scalars.
    /// - Returns: nil if too many tokens of a kind differ.
    private func walk(
        _ contents: MachineText, from start: Int32, _ tokens: TokenTrie, _ view: TrieNodes.View,
        _ freedom: ScalarFreedom?, isOfKinds: Bool, isCounted: Bool
    ) -> RunList? {
        let path = UnsafeMutablePointer<(state: Int32, scalars: Int32)>.allocate(capacity: tokens.longest + 2)
        defer { path.deallocate() }
        path[0] = (start, 0)
        var list = RunList(isEnd: freedom == nil ? [] : Array(repeating: false, count: contents.rows))
        var alone: [Range<Int32>] = []
        var aloneCount = 0
        let (nodes, facts) = (view.nodes, view.facts)
        var place = 1
        let count = Int(nodes[0].end)
        while place < count {
            let node = nodes + place
            let depth = Int(node.pointee.depth)
            let (state, scalars) = path[depth - 1]
            let byte = node.pointee.byte
            let end = Int(node.pointee.end)
            let first = node.pointee.first
            if let freedom,
                freedom.allows(
                    facts[place].classes & ~ByteClass.within | facts[place].ownClass, facts[place].height,
                    after: state)
            {
                list.add(first, nodes[end].first, state, 0)
                list.isFree = true
                place = end
                continue
            }
            let isKind = isOfKinds && byte >= ScalarKind.first
            let next = isKind ? contents.next(state, ofKind: byte) : contents.next(state, byte)
            guard next >= 0 else {
                if isKind, next == MachineText.several {
                    alone.append(first..<nodes[end].first)
                    aloneCount += Int(nodes[end].first - first)
                    guard aloneCount <= Self.mostAlone else { return nil }
                }
                place = end
                continue
            }
            let isBetween = contents.isBetweenScalars(next)
            let after = scalars &+ (isBetween ? 1 : 0)
            path[depth] = (next, after)
            // If all bytes below lead back to a state, all tokens below stay in it.
            if end &- place > 1, !isOfKinds {
                let isBack = next == state && isBetween
                let isWide = !isBetween && byte >= 0xC2 && contents.isBetweenScalars(state)
                if isBack || isWide, contents.loops(state).holds(view, place, fromWithin: isWide) {
                    // The scalar begun here is one of those below.
                    let more = isCounted ? scalars &+ 1 &- Int32(facts[place].scalars) : 0
                    list.add(first, nodes[end].first, state, more)
                    place = end
                    continue
                }
            }
            let to = (node + 1).pointee.first
            if first < to { list.add(first, to, next, isCounted ? after &- Int32(facts[place].scalars) : 0) }
            place += 1
        }
        for rank in alone.joined() {
            var (state, after) = (start, Int32(0))
            for byte in tokens.text(of: self.list.ids[Int(rank)]) {
                state = contents.next(state, byte)
                guard state >= 0 else { break }
                if contents.isBetweenScalars(state) { after += 1 }
            }
            guard state >= 0 else { continue }
            list.add(rank, rank + 1, state, isCounted ? after - Int32(self.list.scalars[Int(rank)]) : 0)
        }
        return list
    }

    private mutating func countScalars() {
        list.scalars.withUnsafeBufferPointer { scalars in
            for run in runs {
                var counts = ends[Int(run.end)].scalars
                var last = -1
                // Neighbours often have as many.
                for rank in run.from..<run.to where Int(scalars[Int(rank)]) != last {
                    last = Int(scalars[Int(rank)])
                    counts.insert(last)
                }
                ends[Int(run.end)].scalars = counts
            }
        }
    }
}

/// Collects runs.
private struct RunList {
    private struct Key: Hashable {
        var state: Int32
        var more: Int32
    }

    private var runs: [StringWalk.Run] = []
    private var ends: [StringWalk.End] = []
    private var places: [Key: Int32] = [:]
    // The run that may continue, and the ends used last.
    private var last = Key(state: -1, more: 0)
    private var lastEnd: Int32 = -1
    private var other = Key(state: -1, more: 0)
    private var otherEnd: Int32 = -1
    private var from: Int32 = 0
    private var to: Int32 = -1
    /// Whether it includes tokens that were not visited.
    var isFree = false
    /// If the ends of single tokens don't matter: by state, whether some end there.
    private(set) var isEnd: [Bool]

    init(isEnd: [Bool]) { self.isEnd = isEnd }

    @inline(__always) mutating func add(_ from: Int32, _ to: Int32, _ state: Int32, _ more: Int32) {
        if !isEnd.isEmpty {
            isEnd[Int(state)] = true
            // All share one end.
            if from == self.to { self.to = to } else { begin(from, to, Key(state: 0, more: 0)) }
        } else if state == last.state, more == last.more, from == self.to {
            self.to = to
        } else {
            begin(from, to, Key(state: state, more: more))
        }
    }

    private mutating func begin(_ from: Int32, _ to: Int32, _ key: Key) {
        close()
        if key != last {
            (last, other) = (other, last)
            (lastEnd, otherEnd) = (otherEnd, lastEnd)
            if key != last { (last, lastEnd) = (key, end(key)) }
        }
        (self.from, self.to) = (from, to)
    }

    private mutating func end(_ key: Key) -> Int32 {
        if let known = places[key] { return known }
        let place = Int32(ends.count)
        ends.append(StringWalk.End(state: key.state, more: key.more, scalars: ScalarCounts()))
        places[key] = place
        return place
    }

    private mutating func close() {
        if to > from { runs.append(StringWalk.Run(end: lastEnd, from: from, to: to)) }
    }

    mutating func finished() -> ([StringWalk.Run], [StringWalk.End]) {
        close()
        return (runs, ends)
    }
}
