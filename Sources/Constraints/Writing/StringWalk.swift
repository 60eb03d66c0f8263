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
        let state: Int32
        /// 0 where they are not counted.
        let scalars: Int32
        let from: Int
        var to: Int
    }

    var runs: [Run] = []
    /// The most bytes of a way from where a token leads to an end of the contents, bounds on their length left out.
    var mostBytes = 0
    /// All tokens that stay.
    var staying: TokenMask
    /// Nodes of the trie to which the closing quote leads, with the scalars before it.
    var exits: [(node: Int, scalars: Int)] = []

    /// About how many bytes it takes.
    var bytes: Int { staying.count / 8 + 16 * exits.count + 32 * runs.count }
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
        for run in runs { staying.insert(contentsOf: tokens.ids[run.from..<run.to]) }
    }

    private mutating func walk<Text: ByteAutomaton>(
        _ contents: Text, from start: Int32, _ tokens: TokenTrie, isCounted: Bool
    ) {
        let nodes = tokens.nodes
        var path = [(state: Int32, scalars: Int)](repeating: (start, 0), count: tokens.longest + 2)
        var loops: [Int32: LoopClasses] = [:]
        var node = 1
        while node < nodes.count {
            let depth = Int(nodes.depth[node])
            let (state, scalars) = path[depth - 1]
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
            path[depth] = (next, count)
            // Where all bytes below lead back here, all tokens below stay here.
            if end - node > 4, next == state, isBetween {
                let known = loops[next] ?? LoopClasses(contents, next)
                loops[next] = known
                if known.holds(nodes, node) {
                    let (from, to) = nodes.texts(below: node)
                    if isCounted {
                        let before = count - Int(nodes.scalars[node])
                        for rank in from..<to {
                            add(rank..<(rank + 1), next, before + Int(tokens.scalars[rank]), contents)
                        }
                    } else {
                        add(from..<to, next, 0, contents)
                    }
                    node = end
                    continue
                }
            }
            let (from, to) = nodes.texts(at: node)
            if from < to { add(from..<to, next, isCounted ? count : 0, contents) }
            node += 1
        }
    }

    private mutating func add<Text: ByteAutomaton>(
        _ ranks: Range<Int>, _ state: Int32, _ scalars: Int, _ contents: Text
    ) {
        let last = runs.count - 1
        if last >= 0, runs[last].state == state {
            if runs[last].scalars == scalars, runs[last].to == ranks.lowerBound {
                runs[last].to = ranks.upperBound
                return
            }
        } else {
            mostBytes = max(mostBytes, contents.fewestBytes(state))
        }
        runs.append(
            Run(state: state, scalars: Int32(scalars), from: ranks.lowerBound, to: ranks.upperBound))
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

    /// Whether all texts below a node lead back.
    func holds(_ nodes: TrieNodes, _ node: Int) -> Bool {
        let others = nodes.classes[node] & ~ascii
        return others == 0 || isWide && nodes.isWhole[node] && others & ~ByteClass.wide == 0
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
