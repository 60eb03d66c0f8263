import OperatingSystem

import struct Synchronization.Atomic

/// Follows a text under a context-free grammar, byte by byte.
///
/// A state is a set of items. An item's continuation after its production is another set of items, which may refer to
/// itself in a rule that begins with itself. Sets are stored once and numbered. So an item at the end of its production
/// is replaced by its set's items, all readings of a text are in one state, and a known step is a table lookup. This is
/// Earley's algorithm with sets in place of byte positions; items that differ only in their origin are equal.
///
/// Safe to use from several threads; known results are read without a lock. Results depend only on the text, not on
/// earlier calls.
final class Pushdown: Sendable {
    let grammar: Productions
    let sets = SharedList<ItemSet>()
    private let numbers = Mutex<[[Item]: Int32]>([:])
    /// By set, its items within terminals, and those that its rules begin with.
    private let scans = Memo<Int32, [Item]>()
    private let groups = Memo<GroupKey, [Int32]>()
    /// By set that a group of rules made for itself, the group and its first set.
    private let groupStarts = Memo<Int32, (group: Int32, first: Int32)>()
    let tables = StateTables()
    let comparisons = Memo<ComparedSets, Bool>()
    private let visitCount = Atomic<Int>(0)
    private let startNumber = Atomic<Int32>(0)
    private let itemCount = Atomic<Int>(0)

    struct ItemSet {
        /// Sorted, without duplicates; includes all that follow without a byte.
        var items: [Item]
        /// The bytes of the shortest text to the end.
        var fewestBytes: Int
    }

    /// The key of the continuations in a group of rules that begin with each other.
    private struct GroupKey: Hashable {
        let group: Int32
        /// By rule of the group, the set that continues it when another group asks; -1 for none.
        let outside: [Int32]
    }

    init(_ grammar: Productions) {
        self.grammar = grammar
        let end = number(of: [.end])
        let start = number(of: closed([Item(position: 0, state: -1, rest: end)]))
        startNumber.store(start, ordering: .relaxed)
    }

    var start: Int32 { startNumber.load(ordering: .relaxed) }

    /// Number of items visited.
    var visits: Int { visitCount.load(ordering: .relaxed) }

    /// The approximate bytes of the tables.
    var bytes: Int {
        tables.bytes + 300 * sets.count + 12 * itemCount.load(ordering: .relaxed) + 32 * comparisons.count
    }

    // MARK: Sets

    /// The items of a set.
    func items(_ set: Int32) -> [Item] { sets[Int(set)].items }

    func fewestBytes(_ set: Int32) -> Int { sets[Int(set)].fewestBytes }

    /// - Parameter items: as in `ItemSet`.
    private func number(of items: [Item]) -> Int32 {
        numbers.withLock { numbers in
            if let known = numbers[items] { return known }
            let number = add(items)
            numbers[items] = number
            return number
        }
    }

    /// A set's number is its index in two lists, so that both grow with the lock held.
    private func add(_ items: [Item]) -> Int32 {
        let fewest = items.reduce(Productions.endless) { min($0, bytes(of: $1)) }
        itemCount.wrappingAdd(items.count, ordering: .relaxed)
        tables.addState()
        return Int32(sets.append(ItemSet(items: items, fewestBytes: fewest)))
    }

    /// Returns the bytes of the shortest text from an item to the end.
    func bytes(of item: Item) -> Int {
        guard item.position >= 0 else { return 0 }
        let rest = fewestBytes(item.rest)
        guard let terminal = grammar.terminal(at: item.position) else {
            return Productions.sum(grammar.fewest[Int(item.position)], rest)
        }
        let own = terminal.fewestBytes(item.state) + grammar.fewest[Int(item.position) + 1]
        return Productions.sum(own, rest)
    }

    /// Adds items that follow without a byte, and removes those that only lead to such.
    /// - Parameter reduces: whether items are removed whose texts another one has.
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
                if terminal.machine.goesOn(item.state) { all.append(item) }
            case .rule(let rule):
                if grammar.isNullable[Int(rule)] { waiting += after(item) }
                all.append(item)
            }
        }
        visitCount.wrappingAdd(known.count, ordering: .relaxed)
        all.sort()
        return reduces ? reduced(all) : all
    }

    /// The items after the symbol at an item's position.
    private func after(_ item: Item) -> [Item] {
        let next = item.position + 1
        return switch grammar[next] {
        case .end: items(item.rest)
        case .terminal(let terminal):
            [Item(position: next, state: grammar.terminals[Int(terminal)].start, rest: item.rest)]
        case .rule: [Item(position: next, state: -1, rest: item.rest)]
        }
    }

    /// Removes items whose texts another one has.
    /// - Parameter items: sorted.
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

    // MARK: Beginnings of rules

    /// The items of a set within terminals, including those that its rules begin with.
    func scans(of set: Int32) -> [Item] {
        scans.value(of: set) { findScans(of: set) }
    }

    private func findScans(of set: Int32) -> [Item] {
        var found: [Item] = []
        // By rule, its continuations; rules are taken in such an order that all are known in time.
        var asked: [Int32: [Item]] = [:]
        var waiting = PendingGroups()
        for item in items(set) where item.position >= 0 {
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
        visitCount.wrappingAdd(found.count, ordering: .relaxed)
        itemCount.wrappingAdd(found.count, ordering: .relaxed)
        return found
    }

    /// Returns the continuations of a group's rules, which may begin with each other: sets that refer to themselves.
    /// - Parameter outside: by rule, its continuation for other groups.
    private func rests(of group: Int32, _ outside: [[Item]]) -> [Int32] {
        let key = GroupKey(group: group, outside: outside.map { $0.isEmpty ? -1 : number(of: closed($0)) })
        return groups.value(of: key) { findRests(of: key) }
    }

    private func findRests(of key: GroupKey) -> [Int32] {
        let group = key.group
        let members = grammar.members[Int(group)]
        // No other thread knows of them until this returns.
        let own = numbers.withLock { _ in members.map { _ in add([]) } }
        // For each rule of the group, the items where it begins others.
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
                var items = key.outside[place] < 0 ? [] : items(key.outside[place])
                for corner in corners[place] { items += after(corner) }
                let closed = closed(items, reduces: false)
                if closed.count == self.items(own[place]).count { continue }
                change(own[place]) { $0.items = closed }
                isChanged = true
            }
        }
        isChanged = true
        while isChanged {
            isChanged = false
            for set in own {
                let bytes = items(set).reduce(Productions.endless) { min($0, self.bytes(of: $1)) }
                if bytes < fewestBytes(set) {
                    change(set) { $0.fewestBytes = bytes }
                    isChanged = true
                }
            }
        }
        for set in own {
            let items = reduced(items(set))
            change(set) { $0.items = items }
            itemCount.wrappingAdd(items.count, ordering: .relaxed)
            groupStarts.keep((group, own[0]), for: set)
        }
        return equal(to: own, group) ?? own
    }

    /// For a set that no other thread knows of.
    private func change(_ set: Int32, _ body: (inout ItemSet) -> Void) {
        var changed = sets[Int(set)]
        body(&changed)
        sets.replace(Int(set), by: changed)
    }

    /// Returns earlier sets of the group that have the same continuations and references as the new ones. So a rule
    /// that repeats itself returns to an earlier state.
    private func equal(to own: [Int32], _ group: Int32) -> [Int32]? {
        var looked: Set<Int32> = []
        for item in own.lazy.flatMap({ self.items($0) }) {
            guard let known = groupStarts.known(item.rest), known.group == group, known.first != own[0],
                looked.insert(known.first).inserted
            else { continue }
            let others = own.indices.map { known.first + Int32($0) }
            if zip(own, others).allSatisfy({ isWithin($0, $1) && isWithin($1, $0) }) { return others }
        }
        return nil
    }

    // MARK: Steps

    /// Returns the state after one more byte; -1 if no text continues so.
    @inline(__always) func next(_ state: Int32, _ byte: UInt8) -> Int32 {
        let known = tables.next(state, byte)
        return known != StateTables.unknown ? known : findNext(state, byte)
    }

    @inline(never) private func findNext(_ state: Int32, _ byte: UInt8) -> Int32 {
        let next = step(state, byte)
        tables.set(state, byte, next)
        return next
    }

    /// As above, without storing the result.
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
    func isFinal(_ state: Int32) -> Bool { items(state).first == .end }

    /// Whether the text ends here.
    func isComplete(_ state: Int32) -> Bool { isFinal(state) && scans(of: state).isEmpty }
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

/// A continuation of a text: from a position in a production, and then as the production's context continues.
struct Item: Hashable, Comparable {
    /// -1 for the end of the text.
    var position: Int32
    /// The state of the terminal at the position; -1 before a rule.
    var state: Int32
    /// The set of items that continue the text after the production.
    var rest: Int32

    static let end = Item(position: -1, state: -1, rest: -1)

    /// Whether two items differ at most in the continuation after the production.
    func isLike(_ other: Item) -> Bool { position == other.position && state == other.state }

    static func < (a: Item, b: Item) -> Bool {
        (a.position, a.state, a.rest) < (b.position, b.state, b.rest)
    }
}
