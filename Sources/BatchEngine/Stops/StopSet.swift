/// The stop strings of a request, as an automaton over bytes (Aho and Corasick, 1975): a completion is
/// searched for all of them at once, each byte looked at once.
package struct StopSet: Sendable, Equatable {
    static let countLimit = 1024
    static let byteLimit = 1 << 16

    struct Node: Equatable {
        /// Bytes from the root: how much of a stop string has been seen.
        var depth: Int
        /// The node of the longest proper suffix that begins a stop string.
        var fallback = 0
        /// The length of the longest stop string that ends here; 0 if none does.
        var match = 0
    }

    private(set) var nodes = [Node(depth: 0)]
    /// Children, keyed by node * 256 + byte.
    private var children: [Int: Int] = [:]

    package static let none = StopSet([])

    package init(_ stops: [String]) {
        for stop in stops where !stop.isEmpty { insert(stop) }
        link()
    }

    package var isEmpty: Bool { nodes.count == 1 }

    /// What is wrong with a list of stop strings, in words that follow the setting's name.
    package static func problem(with stops: [String]) -> String? {
        if stops.contains(where: \.isEmpty) { return "holds an empty string, which would stop at once" }
        if stops.count > countLimit { return "holds more than \(countLimit) strings" }
        if stops.reduce(0, { $0 + $1.utf8.count }) > byteLimit { return "is longer than \(byteLimit) bytes" }
        return nil
    }

    private mutating func insert(_ stop: String) {
        var node = 0
        for byte in stop.utf8 {
            let key = node << 8 | Int(byte)
            if let child = children[key] {
                node = child
            } else {
                nodes.append(Node(depth: nodes[node].depth + 1))
                children[key] = nodes.count - 1
                node = nodes.count - 1
            }
        }
        nodes[node].match = nodes[node].depth
    }

    /// Sets the fallbacks, nearest nodes first.
    private mutating func link() {
        let edges = children.map { (parent: $0.key >> 8, byte: UInt8($0.key & 0xFF), child: $0.value) }
            .sorted { (nodes[$0.child].depth, $0.child) < (nodes[$1.child].depth, $1.child) }
        for edge in edges {
            let fallback = edge.parent == 0 ? 0 : step(from: nodes[edge.parent].fallback, edge.byte)
            nodes[edge.child].fallback = fallback
            if nodes[edge.child].match == 0 { nodes[edge.child].match = nodes[fallback].match }
        }
    }

    func step(from start: Int, _ byte: UInt8) -> Int {
        var node = start
        while true {
            if let child = children[node << 8 | Int(byte)] { return child }
            if node == 0 { return 0 }
            node = nodes[node].fallback
        }
    }
}
