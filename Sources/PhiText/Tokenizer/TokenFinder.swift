/// Finds fixed texts in a text: at each place the longest that begins there.
///
/// An Aho-Corasick automaton over the reversed texts, run from the end of the text to its beginning: its
/// state at a place tells the longest one that begins there. So the time is linear, whatever the texts.
struct TokenFinder: Sendable {
    struct Hit {
        var start: Int
        var end: Int
        /// Number of the text.
        var index: Int
    }

    private var lengths: [Int] = []
    /// Node to go on with from each node when no child fits.
    private var fallback: [Int32] = [0]
    /// The longest text that a node's path ends with (read backwards), or -1.
    private var longest: [Int32] = [-1]
    private var rootChildren = [Int32](repeating: 0, count: 256)
    /// Child of a node by a byte: key node << 8 | byte.
    private var children: [UInt64: Int32] = [:]

    /// - Parameter texts: well-formed UTF-8, not empty; of equal ones the first counts.
    init(_ texts: [[UInt8]]) {
        var byDepth: [(node: Int32, parent: Int32, byte: UInt8)] = []
        for (index, text) in texts.enumerated() {
            lengths.append(text.count)
            var node: Int32 = 0
            for byte in text.reversed() {
                if let child = child(of: node, byte) {
                    node = child
                } else {
                    let new = Int32(longest.count)
                    longest.append(-1)
                    fallback.append(0)
                    if node == 0 {
                        rootChildren[Int(byte)] = new
                    } else {
                        children[Self.key(node, byte)] = new
                    }
                    byDepth.append((new, node, byte))
                    node = new
                }
            }
            if longest[Int(node)] < 0 { longest[Int(node)] = Int32(index) }
        }
        link(byDepth)
    }

    private static func key(_ node: Int32, _ byte: UInt8) -> UInt64 { UInt64(node) << 8 | UInt64(byte) }

    private func child(of node: Int32, _ byte: UInt8) -> Int32? {
        if node == 0 {
            let child = rootChildren[Int(byte)]
            return child == 0 ? nil : child
        }
        return children[Self.key(node, byte)]
    }

    private func step(_ state: Int32, _ byte: UInt8) -> Int32 {
        var state = state
        while true {
            if let next = child(of: state, byte) { return next }
            if state == 0 { return 0 }
            state = fallback[Int(state)]
        }
    }

    /// Sets the fallbacks, level by level.
    private mutating func link(_ nodes: [(node: Int32, parent: Int32, byte: UInt8)]) {
        var depth = [Int32](repeating: 0, count: longest.count)
        for node in nodes { depth[Int(node.node)] = depth[Int(node.parent)] + 1 }
        for node in nodes.sorted(by: { (depth[Int($0.node)], $0.node) < (depth[Int($1.node)], $1.node) }) {
            if node.parent != 0 {
                fallback[Int(node.node)] = step(fallback[Int(node.parent)], node.byte)
            }
            if longest[Int(node.node)] < 0 {
                longest[Int(node.node)] = longest[Int(fallback[Int(node.node)])]
            }
        }
    }

    /// For each place where one of the texts begins, the longest one; last place first.
    func hitsBackwards(in text: UnsafeBufferPointer<UInt8>) -> [Hit] {
        guard !lengths.isEmpty else { return [] }
        var hits: [Hit] = []
        var state: Int32 = 0
        rootChildren.withUnsafeBufferPointer { rootChildren in
            var i = text.count
            while i > 0 {
                i -= 1
                state = state == 0 ? rootChildren[Int(text[i])] : step(state, text[i])
                if state == 0 { continue }
                let index = longest[Int(state)]
                if index >= 0 {
                    hits.append(Hit(start: i, end: i + lengths[Int(index)], index: Int(index)))
                }
            }
        }
        return hits
    }
}
