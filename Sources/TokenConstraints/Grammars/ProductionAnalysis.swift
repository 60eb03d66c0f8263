/// Properties of productions, computed once.
struct ProductionAnalysis {
    private let rules: [ProductionBuilder.Rule]
    private var symbols: [Productions.Symbol] = []
    /// By rule, the positions of its productions.
    private var starts: [[Int32]] = []

    init(_ rules: [ProductionBuilder.Rule]) {
        self.rules = rules
        for rule in rules {
            var own: [Int32] = []
            for production in rule.productions {
                own.append(Int32(symbols.count))
                symbols += production
                symbols.append(.end)
            }
            starts.append(own)
        }
    }

    func productions(_ terminals: [MachineText]) throws(ConstraintFault) -> Productions {
        let lengths = terminals.map { $0.fewestBytes($0.start) }
        let shortest = try shortest(lengths)
        guard shortest[0] <= GrammarLimits.shortest else {
            throw .grammar(
                .tooLarge, line: rules[0].line,
                "the shortest text of the grammar has more than \(GrammarLimits.shortest) bytes")
        }
        var fewest = [Int](repeating: 0, count: symbols.count)
        for position in symbols.indices.reversed() {
            let own: Int
            switch symbols[position] {
            case .end: continue
            case .terminal(let terminal): own = lengths[Int(terminal)]
            case .rule(let rule): own = shortest[Int(rule)]
            }
            fewest[position] = Productions.sum(own, fewest[position + 1])
        }
        let isNullable = shortest.map { $0 == 0 }
        let corners = corners(lengths, isNullable)
        let (groups, members, isRecursive) = groups(corners)
        return Productions(
            symbols: symbols, terminals: terminals, fewest: fewest, isNullable: isNullable,
            corners: corners, groups: groups, members: members, isRecursive: isRecursive)
    }

    /// Returns by rule the bytes of its shortest text (Knuth's generalization of Dijkstra's algorithm).
    /// - Throws: `ConstraintFault` if a rule has no text.
    private func shortest(_ lengths: [Int]) throws(ConstraintFault) -> [Int] {
        // For each production, its known bytes and its number of unknown rules.
        var productions: [(rule: Int, bytes: Int, missing: Int)] = []
        var users = [[Int]](repeating: [], count: rules.count)
        var ready = ByteQueue()
        for (rule, definition) in rules.enumerated() {
            for production in definition.productions {
                var (bytes, missing) = (0, 0)
                for symbol in production {
                    switch symbol {
                    case .terminal(let terminal): bytes = Productions.sum(bytes, lengths[Int(terminal)])
                    case .rule(let part):
                        missing += 1
                        users[Int(part)].append(productions.count)
                    case .end: break
                    }
                }
                if missing == 0 { ready.add(rule, bytes) }
                productions.append((rule, bytes, missing))
            }
        }
        var shortest = [Int](repeating: -1, count: rules.count)
        while let (rule, bytes) = ready.next() {
            guard shortest[rule] < 0 else { continue }
            shortest[rule] = bytes
            for user in users[rule] {
                productions[user].bytes = Productions.sum(productions[user].bytes, bytes)
                productions[user].missing -= 1
                if productions[user].missing == 0 {
                    ready.add(productions[user].rule, productions[user].bytes)
                }
            }
        }
        if let first = shortest.firstIndex(of: -1) {
            let rule = endless(from: first, shortest)
            throw .grammar(
                .unsatisfiable, line: rules[rule].line,
                "each text of the rule \(rules[rule].name) would be endless: none of its alternatives does without what it is made of itself"
            )
        }
        return shortest
    }

    /// Returns one of the rules without a text that refers to itself.
    private func endless(from first: Int, _ shortest: [Int]) -> Int {
        var path: [Int] = []
        var known: Set<Int> = []
        var rule = first
        while known.insert(rule).inserted {
            path.append(rule)
            for case .rule(let part) in rules[rule].productions.joined() where shortest[Int(part)] < 0 {
                rule = Int(part)
                break
            }
        }
        return path.drop { $0 != rule }.min { rules[$0].line < rules[$1].line } ?? rule
    }

    private func corners(_ lengths: [Int], _ isNullable: [Bool]) -> [[Int32]] {
        starts.map { starts in
            starts.flatMap { start in
                var corners: [Int32] = []
                var position = start
                while true {
                    let goesOn: Bool
                    switch symbols[Int(position)] {
                    case .end: return corners
                    case .terminal(let terminal): goesOn = lengths[Int(terminal)] == 0
                    case .rule(let rule): goesOn = isNullable[Int(rule)]
                    }
                    corners.append(position)
                    if !goesOn { return corners }
                    position += 1
                }
            }
        }
    }

    /// Returns the strongly connected components of "may begin with" (Tarjan's algorithm, without recursion).
    private func groups(_ corners: [[Int32]]) -> (of: [Int32], members: [[Int32]], isRecursive: [Bool]) {
        let next: [[Int]] = corners.map { corners in
            corners.compactMap { if case .rule(let rule) = symbols[Int($0)] { Int(rule) } else { nil } }
        }
        var index = [Int](repeating: -1, count: rules.count)
        var low = index
        var isOpen = [Bool](repeating: false, count: rules.count)
        var open: [Int] = []
        var found: [[Int32]] = []
        var count = 0
        for root in rules.indices where index[root] < 0 {
            var path: [(rule: Int, edge: Int)] = [(root, 0)]
            while let (rule, edge) = path.last {
                if edge == 0 {
                    index[rule] = count
                    low[rule] = count
                    count += 1
                    open.append(rule)
                    isOpen[rule] = true
                }
                if edge < next[rule].count {
                    path[path.count - 1].edge += 1
                    let other = next[rule][edge]
                    if index[other] < 0 {
                        path.append((other, 0))
                    } else if isOpen[other] {
                        low[rule] = min(low[rule], index[other])
                    }
                    continue
                }
                path.removeLast()
                if let parent = path.last?.rule { low[parent] = min(low[parent], low[rule]) }
                guard low[rule] == index[rule] else { continue }
                var members: [Int32] = []
                while let member = open.popLast() {
                    isOpen[member] = false
                    members.append(Int32(member))
                    if member == rule { break }
                }
                found.append(members.sorted())
            }
        }
        // They are found from the last one on.
        found.reverse()
        var groups = [Int32](repeating: 0, count: rules.count)
        for (group, members) in found.enumerated() {
            for member in members { groups[Int(member)] = Int32(group) }
        }
        let isRecursive = found.map { members in
            members.count > 1 || next[Int(members[0])].contains(Int(members[0]))
        }
        return (groups, found, isRecursive)
    }
}

/// Rules by bytes, the fewest first.
private struct ByteQueue {
    private var heap: [(rule: Int, bytes: Int)] = []

    mutating func add(_ rule: Int, _ bytes: Int) {
        heap.append((rule, bytes))
        var place = heap.count - 1
        while place > 0, heap[place].bytes < heap[(place - 1) / 2].bytes {
            heap.swapAt(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    mutating func next() -> (rule: Int, bytes: Int)? {
        guard let first = heap.first, let last = heap.popLast() else { return nil }
        guard !heap.isEmpty else { return first }
        heap[0] = last
        var place = 0
        while true {
            var least = place
            for child in [2 * place + 1, 2 * place + 2] where child < heap.count {
                if heap[child].bytes < heap[least].bytes { least = child }
            }
            if least == place { return first }
            heap.swapAt(place, least)
            place = least
        }
    }
}
