/// Follows a text that is being written under a context-free grammar, byte by byte.
///
/// A state is a set of items. An item knows what comes after its production as another set of items, which may refer to
/// itself where a rule begins with itself. Sets are kept once and known by number. So an item whose production is at its
/// end needs no place of its own (its set's items take it), a text that can be read in several ways is in one state, and
/// a step that was taken before is a look into a table. This is Earley's algorithm with sets in place of the numbers of
/// bytes; what differs only in how it came about is equal.
///
/// One thread at a time. What it says depends on the text alone, not on what was asked before.
final class Pushdown {
    let grammar: Productions
    /// The items of each set, in order, none of them twice; what they lead to without a byte is in the set, too.
    private(set) var sets: [[Item]] = []
    private var numbers: [[Item]: Int32] = [:]
    /// By set, the bytes of the shortest way to the end of the text.
    private(set) var fewest: [Int] = []
    /// By set, its items within terminals, and those that its rules begin with; nil while not asked.
    private var scans: [[Item]?] = []
    private var groups: [GroupKey: [Int32]] = [:]
    /// By set that a group of rules made for itself, where that group's sets begin.
    private var groupStarts: [Int32: (group: Int32, first: Int32)] = [:]
    @exclusivity(unchecked) private var steps = StepTables()
    var comparisons = Comparisons()
    var facts: [Int32: StateFacts] = [:]
    /// Items that were looked at so far.
    private(set) var visits = 0
    private(set) var start: Int32 = 0
    private var itemCount = 0
    /// Bytes of ways to the end that are kept.
    var planBytes = 0

    /// What a group of rules that begin with each other goes on with depends on this alone.
    private struct GroupKey: Hashable {
        let group: Int32
        /// By rule of the group, the set with which it goes on where another one asked for it; -1 for none.
        let outside: [Int32]
    }

    /// What is known of a state once it was asked.
    struct StateFacts {
        /// The only byte that can come next; -1 if there are several, or the text may end; -2 while not known.
        var only: Int16 = -2
        /// The shortest way to an end in tokens; nil while not known.
        var plan: [Int32]??
        /// The classes of bytes all of which lead back to the state; nil while not known.
        var loops: UInt64?
    }

    init(_ grammar: Productions) {
        self.grammar = grammar
        let end = number(of: [.end])
        start = number(of: closed([Item(position: 0, state: -1, rest: end)]))
    }

    deinit { steps.deallocate() }

    /// About how many bytes the tables take.
    var bytes: Int {
        steps.bytes + 300 * sets.count + 12 * itemCount + comparisons.bytes + planBytes + 64 * facts.count
    }

    // MARK: Sets

    /// - Parameter items: as in `sets`.
    private func number(of items: [Item]) -> Int32 {
        if let known = numbers[items] { return known }
        let number = add(items)
        numbers[items] = number
        return number
    }

    private func add(_ items: [Item]) -> Int32 {
        sets.append(items)
        fewest.append(items.reduce(Productions.endless) { min($0, bytes(of: $1)) })
        scans.append(nil)
        steps.addState()
        itemCount += items.count
        return Int32(sets.count - 1)
    }

    /// The bytes of the shortest way to the end of the text from an item.
    func bytes(of item: Item) -> Int {
        guard item.position >= 0 else { return 0 }
        let rest = fewest[Int(item.rest)]
        guard let terminal = grammar.terminal(at: item.position) else {
            return Productions.sum(grammar.fewest[Int(item.position)], rest)
        }
        let own = terminal.fewestBytes(item.state) + grammar.fewest[Int(item.position) + 1]
        return Productions.sum(own, rest)
    }

    /// The items with those that they lead to without a byte, without those that lead nowhere else.
    /// - Parameter reduces: whether items are left out whose texts another one has as well.
    private func closed(_ items: [Item], reduces: Bool = true) -> [Item] {
        var all: [Item] = []
        var known: Set<Item> = []
        var waiting = items
        while let item = waiting.popLast() {
            guard known.insert(item).inserted else { continue }
            guard item.position >= 0 else {
                all.append(item)
                continue
            }
            switch grammar[item.position] {
            case .end: preconditionFailure("no item stands at the end of a production")
            case .terminal(let number):
                let terminal = grammar.terminals[Int(number)]
                if terminal.isFinal(item.state) { waiting += after(item) }
                if terminal.goesOn(item.state) { all.append(item) }
            case .rule(let rule):
                if grammar.isNullable[Int(rule)] { waiting += after(item) }
                all.append(item)
            }
        }
        visits += known.count
        all.sort()
        return reduces ? reduced(all) : all
    }

    /// The items behind the symbol at an item's position.
    private func after(_ item: Item) -> [Item] {
        let next = item.position + 1
        return switch grammar[next] {
        case .end: sets[Int(item.rest)]
        case .terminal(let terminal):
            [Item(position: next, state: grammar.terminals[Int(terminal)].start, rest: item.rest)]
        case .rule: [Item(position: next, state: -1, rest: item.rest)]
        }
    }

    /// Without items whose texts another one has as well.
    /// - Parameter items: in order.
    private func reduced(_ items: [Item]) -> [Item] {
        guard zip(items, items.dropFirst()).contains(where: { $0.isLike($1) }) else { return items }
        var reduced: [Item] = []
        var from = 0
        while from < items.count {
            var to = from + 1
            while to < items.count, items[to].isLike(items[from]) { to += 1 }
            guard to - from <= GrammarLimits.compared else {
                reduced += items[from..<to]
                from = to
                continue
            }
            var kept: [Item] = []
            for item in items[from..<to] {
                if kept.contains(where: { isWithin(item.rest, $0.rest) }) { continue }
                kept.removeAll { isWithin($0.rest, item.rest) }
                kept.append(item)
            }
            reduced += kept
            from = to
        }
        return reduced
    }

    // MARK: What rules begin with

    /// The items of a set within terminals, those that its rules begin with among them.
    func scans(of set: Int32) -> [Item] {
        if let known = scans[Int(set)] { return known }
        var found: [Item] = []
        // By rule, what comes after it; rules are taken in such an order that all is known when it is one's turn.
        var asked: [Int32: [Item]] = [:]
        var waiting = PendingGroups()
        for item in sets[Int(set)] where item.position >= 0 {
            guard case .rule(let rule) = grammar[item.position] else {
                found.append(item)
                continue
            }
            asked[rule, default: []] += after(item)
            waiting.add(grammar.groups[Int(rule)])
        }
        while let group = waiting.next() {
            let members = grammar.members[Int(group)]
            let outside = members.map { asked[$0] ?? [] }
            let rests =
                grammar.isRecursive[Int(group)]
                ? rests(of: group, outside) : [number(of: closed(outside[0]))]
            for (member, rest) in zip(members, rests) {
                for corner in grammar.corners[Int(member)] {
                    switch grammar[corner] {
                    case .end: break
                    case .terminal(let terminal):
                        let state = grammar.terminals[Int(terminal)].start
                        found.append(Item(position: corner, state: state, rest: rest))
                    case .rule(let rule):
                        guard grammar.groups[Int(rule)] != group else { continue }
                        asked[rule, default: []] += after(Item(position: corner, state: -1, rest: rest))
                        waiting.add(grammar.groups[Int(rule)])
                    }
                }
            }
        }
        visits += found.count
        itemCount += found.count
        scans[Int(set)] = found
        return found
    }

    /// What the rules of a group go on with, which may begin with each other: sets that refer to themselves.
    /// - Parameter outside: by rule, what comes after it where it is asked for from outside of the group.
    private func rests(of group: Int32, _ outside: [[Item]]) -> [Int32] {
        let key = GroupKey(group: group, outside: outside.map { $0.isEmpty ? -1 : number(of: closed($0)) })
        if let known = groups[key] { return known }
        let members = grammar.members[Int(group)]
        let own = members.map { _ in add([]) }
        // Where a rule of the group begins with which.
        var corners = [[Item]](repeating: [], count: members.count)
        for (rest, member) in zip(own, members) {
            for corner in grammar.corners[Int(member)] {
                guard case .rule(let rule) = grammar[corner], let place = members.firstIndex(of: rule) else {
                    continue
                }
                corners[place].append(Item(position: corner, state: -1, rest: rest))
            }
        }
        var isChanged = true
        while isChanged {
            isChanged = false
            for place in members.indices {
                var items = key.outside[place] < 0 ? [] : sets[Int(key.outside[place])]
                for corner in corners[place] { items += after(corner) }
                let closed = closed(items, reduces: false)
                if closed.count == sets[Int(own[place])].count { continue }
                sets[Int(own[place])] = closed
                isChanged = true
            }
        }
        isChanged = true
        while isChanged {
            isChanged = false
            for set in own {
                let bytes = sets[Int(set)].reduce(Productions.endless) { min($0, self.bytes(of: $1)) }
                if bytes < fewest[Int(set)] {
                    fewest[Int(set)] = bytes
                    isChanged = true
                }
            }
        }
        for set in own {
            sets[Int(set)] = reduced(sets[Int(set)])
            itemCount += sets[Int(set)].count
            groupStarts[set] = (group, own[0])
        }
        let found = equal(to: own, group) ?? own
        groups[key] = found
        return found
    }

    /// The sets that the group made for itself before, if they are followed by the same texts and the new ones refer to
    /// them. So a rule that goes on with itself again and again comes to a place where it was before.
    private func equal(to own: [Int32], _ group: Int32) -> [Int32]? {
        var looked: Set<Int32> = []
        for item in own.lazy.flatMap({ self.sets[Int($0)] }) {
            guard let known = groupStarts[item.rest], known.group == group, known.first != own[0],
                looked.insert(known.first).inserted
            else { continue }
            let others = own.indices.map { known.first + Int32($0) }
            if zip(own, others).allSatisfy({ isWithin($0, $1) && isWithin($1, $0) }) { return others }
        }
        return nil
    }

    // MARK: Steps

    /// The state after one more byte; -1 if no text goes on that way.
    @inline(__always) func next(_ state: Int32, _ byte: UInt8) -> Int32 {
        let known = steps[state, byte]
        return known != StepTables.unknown ? known : findNext(state, byte)
    }

    @inline(never) private func findNext(_ state: Int32, _ byte: UInt8) -> Int32 {
        let next = step(state, byte)
        steps.set(state, byte, next)
        return next
    }

    /// The same, without keeping what was found.
    func step(_ state: Int32, _ byte: UInt8) -> Int32 {
        var items: [Item] = []
        for item in scans(of: state) {
            guard let terminal = grammar.terminal(at: item.position) else { continue }
            let after = terminal.next(item.state, byte)
            if after >= 0 { items.append(Item(position: item.position, state: after, rest: item.rest)) }
        }
        return items.isEmpty ? -1 : number(of: closed(items))
    }

    /// Whether the text may end here.
    func isFinal(_ state: Int32) -> Bool { sets[Int(state)].first == .end }

    /// Whether the text ends here.
    func isComplete(_ state: Int32) -> Bool { isFinal(state) && scans(of: state).isEmpty }

    func fewestBytes(_ state: Int32) -> Int { fewest[Int(state)] }
}

/// Groups of rules that wait for their turn, those with low numbers first.
private struct PendingGroups {
    /// In descending order.
    private var groups: [Int32] = []

    mutating func add(_ group: Int32) {
        var low = 0
        var high = groups.count
        while low < high {
            let middle = (low + high) / 2
            if groups[middle] > group { low = middle + 1 } else { high = middle }
        }
        if low < groups.count, groups[low] == group { return }
        groups.insert(group, at: low)
    }

    mutating func next() -> Int32? { groups.popLast() }
}
