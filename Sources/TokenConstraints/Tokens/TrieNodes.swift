/// The nodes of a trie of byte texts. Node 0 is the root.
struct TrieNodes: Sendable {
    /// The data of a walk's step: together, as walks that skip often jump in memory, and small, as some visit all.
    struct Node {
        /// The first node that isn't below it.
        var end: Int32 = 0
        /// Number of texts before those of the node.
        let first: Int32
        /// Number of bytes that lead to it.
        var depth: UInt16 = 0
        /// The byte that leads to it.
        var byte: UInt8 = 0
    }

    /// Data of some steps.
    struct Facts {
        /// The classes of all bytes below it, a bit each.
        var classes: UInt64 = 0
        /// Number of scalars that begin in the bytes that lead to it.
        var scalars: UInt16 = 0
        /// The class of the byte that leads to it.
        var byteClass: UInt8 = 0
        /// The most scalars that begin below it, or as many as fit.
        var height: UInt8 = 0
        /// Whether all texts below it consist of complete scalars, if it is between two.
        var isWhole = true

        /// The class of its byte, as a bit.
        @inline(__always) var ownClass: UInt64 { 1 << UInt64(byteClass) }
    }

    /// One more at the end, of which only `first` is valid.
    private let nodes: [Node]
    private let facts: [Facts]
    /// The root's children by their byte; -1 for none.
    private let children: [Int32]

    /// - Parameter texts: sorted, none empty.
    init(_ texts: some Sequence<ArraySlice<UInt8>>) {
        var nodes = [Node(first: 0)]
        var facts = [Facts()]
        var path: [Int] = [0]
        var last: ArraySlice<UInt8> = []
        var rank: Int32 = 0
        func close(to length: Int) {
            while path.count > length + 1 {
                let place = path.removeLast()
                nodes[place].end = Int32(nodes.count)
                guard let parent = path.last else { continue }
                let own = facts[place]
                facts[parent].classes |= own.classes | own.ownClass
                let height = UInt16(own.height) + own.scalars - facts[parent].scalars
                facts[parent].height = max(facts[parent].height, UInt8(clamping: height))
            }
        }
        for text in texts {
            let common = zip(last, text).prefix { $0 == $1 }.count
            close(to: common)
            for next in text.dropFirst(common) {
                let scalars = facts[path[path.count - 1]].scalars &+ (next & 0xC0 == 0x80 ? 0 : 1)
                facts.append(Facts(scalars: scalars, byteClass: UInt8(ByteClass.of(next))))
                let depth = UInt16(clamping: path.count)
                path.append(nodes.count)
                nodes.append(Node(first: rank, depth: depth, byte: next))
            }
            rank += 1
            last = text
        }
        close(to: 0)
        nodes[0].end = Int32(nodes.count)
        var children = [Int32](repeating: -1, count: 256)
        var node = 1
        while node < nodes.count {
            children[Int(nodes[node].byte)] = Int32(node)
            node = Int(nodes[node].end)
        }
        nodes.append(Node(first: rank))
        Self.findWhole(nodes, &facts)
        self.nodes = nodes
        self.facts = facts
        self.children = children
    }

    private static func findWhole(_ nodes: [Node], _ facts: inout [Facts]) {
        // The path to the node, with the bytes that the last scalar lacks; -1 for invalid UTF-8.
        var path: [(node: Int, lacking: Int)] = [(0, 0)]
        for node in 1..<nodes.count - 1 {
            while let last = path.last, Int(nodes[last.node].end) <= node { path.removeLast() }
            let before = path.last?.lacking ?? 0
            let lacking: Int
            switch nodes[node].byte {
            case 0x80...0xBF: lacking = before > 0 ? before - 1 : -1
            case 0xC0...0xDF: lacking = before == 0 ? 1 : -1
            case 0xE0...0xEF: lacking = before == 0 ? 2 : -1
            case 0xF0...0xFF: lacking = before == 0 ? 3 : -1
            default: lacking = before == 0 ? 0 : -1
            }
            if lacking < 0 || lacking > 0 && nodes[node].first < nodes[node + 1].first {
                for step in path { facts[step.node].isWhole = false }
                facts[node].isWhole = lacking > 0
            }
            path.append((node, lacking))
        }
    }

    var count: Int { nodes.count - 1 }

    /// The nodes for a walk through all of them, without bounds checks.
    struct View {
        let nodes: UnsafePointer<Node>
        let facts: UnsafePointer<Facts>
    }

    /// - Parameter body: must not keep the view.
    func withView(_ body: (View) -> Void) {
        nodes.withUnsafeBufferPointer { nodes in
            facts.withUnsafeBufferPointer { facts in
                guard let nodes = nodes.baseAddress, let facts = facts.baseAddress else { return }
                body(View(nodes: nodes, facts: facts))
            }
        }
    }

    /// Visits the nodes to which steps lead, each with the state there.
    /// - Parameter next: the state after one more byte; -1 if there is none.
    func walk(from start: Int32, next: (Int32, UInt8) -> Int32, visit: (Int, Int32) -> Void) {
        var path = [start]
        var node = 1
        while node < count {
            path.removeLast(path.count - Int(nodes[node].depth))
            let state = next(path[path.count - 1], nodes[node].byte)
            path.append(state)
            if state < 0 {
                node = Int(nodes[node].end)
            } else {
                visit(node, state)
                node += 1
            }
        }
    }

    func child(of node: Int, _ byte: UInt8) -> Int? {
        if node == 0 {
            let child = Int(children[Int(byte)])
            return child < 0 ? nil : child
        }
        var child = node + 1
        while child < nodes[node].end {
            if nodes[child].byte == byte { return child }
            if nodes[child].byte > byte { return nil }
            child = Int(nodes[child].end)
        }
        return nil
    }

    /// The indices of the texts that end at a node: the first, and the one after the last.
    func texts(at node: Int) -> (from: Int, to: Int) { (Int(nodes[node].first), Int(nodes[node + 1].first)) }

    /// The indices of the texts that end at a node or below it.
    func texts(below node: Int) -> (from: Int, to: Int) {
        (Int(nodes[node].first), Int(nodes[Int(nodes[node].end)].first))
    }
}

/// Classes of bytes, which show a walk that a subtree is uniform: every printable character with a meaning in patterns
/// has its own; letters and digits share theirs.
enum ByteClass {
    static func of(_ byte: UInt8) -> Int { Int(table[Int(byte)]) }

    /// Classes of ASCII's letters and digits.
    static let alphanumeric: UInt64 = 0b11111
    /// Classes of the first bytes of all scalars that take several.
    static let wide: UInt64 = 0b111_1111 << 42 | 0b1_1111 << 50
    /// The class of bytes within a scalar that takes several.
    static let within: UInt64 = 1 << 41

    private static let table: [UInt8] = (0..<256).map { byte in
        switch UInt8(byte) {
        case 0x30...0x39: 0
        case 0x41...0x46: 1
        case 0x47...0x5A: 2
        case 0x61...0x66: 3
        case 0x67...0x7A: 4
        case 0x20...0x2F: 5 + UInt8(byte) - 0x20
        case 0x3A...0x40: 21 + UInt8(byte) - 0x3A
        case 0x5B...0x60: 28 + UInt8(byte) - 0x5B
        case 0x7B...0x7E: 34 + UInt8(byte) - 0x7B
        case 0x7F: 38
        case 0x09, 0x0A, 0x0D: 39
        case 0x00...0x1F: 40
        case 0x80...0xBF: 41
        // Bytes that begin some spaces, which patterns distinguish, have their own class.
        case 0xC2: 50
        case 0xE1...0xE3: UInt8(byte) - 0xE1 + 51
        case 0xEF: 54
        case 0xC3...0xDF: 42
        case 0xE0: 43
        case 0xED: 44
        case 0xE4...0xEE: 45
        case 0xF0: 46
        case 0xF1...0xF3: 47
        case 0xF4: 48
        default: 49
        }
    }
}
