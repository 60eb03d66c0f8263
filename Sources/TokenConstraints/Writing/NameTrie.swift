/// Names by their bytes, in a trie that grows. Node 0 is the root.
struct NameTrie {
    private struct Node {
        var children: [(byte: UInt8, node: Int32)] = []
        var isEnd = false
    }

    private var nodes: [Node] = [Node()]

    init(_ names: some Sequence<[UInt8]> = []) { for name in names { _ = insert(name, from: 0) } }

    /// - Returns: the node where the name ends.
    @discardableResult
    mutating func insert(_ name: some Sequence<UInt8>, from root: Int32) -> Int32 {
        var node = root
        for byte in name {
            if let child = child(of: node, byte) {
                node = child
            } else {
                nodes.append(Node())
                let child = Int32(nodes.count - 1)
                nodes[Int(node)].children.append((byte, child))
                node = child
            }
        }
        nodes[Int(node)].isEnd = true
        return node
    }

    /// The approximate bytes of the nodes that `root` has added.
    private(set) var bytes = 0

    /// Adds a root with all names below another one, and a new name. Only nodes on the new name's path are new.
    /// - Parameter root: -1 for none below.
    mutating func root(of root: Int32, with name: [UInt8]) -> Int32 {
        var old: Int32? = root < 0 ? nil : root
        let new = Int32(nodes.count)
        for byte in name {
            var node = old.map { nodes[Int($0)] } ?? Node()
            old = node.children.first { $0.byte == byte }?.node
            node.children.removeAll { $0.byte == byte }
            node.children.append((byte, Int32(nodes.count + 1)))
            bytes += 48 + 8 * node.children.count
            nodes.append(node)
        }
        var last = old.map { nodes[Int($0)] } ?? Node()
        last.isEnd = true
        bytes += 48
        nodes.append(last)
        return new
    }

    func child(of node: Int32, _ byte: UInt8) -> Int32? {
        nodes[Int(node)].children.first { $0.byte == byte }?.node
    }

    func isEnd(_ node: Int32) -> Bool { nodes[Int(node)].isEnd }

    /// All texts below a node, without the path to it.
    func texts(below node: Int32) -> [[UInt8]] {
        var texts: [[UInt8]] = []
        var waiting: [(Int32, [UInt8])] = [(node, [])]
        while let (node, text) = waiting.popLast() {
            if isEnd(node) { texts.append(text) }
            for child in nodes[Int(node)].children { waiting.append((child.node, text + [child.byte])) }
        }
        return texts
    }
}
