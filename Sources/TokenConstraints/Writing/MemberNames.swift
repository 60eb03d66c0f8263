/// The known members of an object shape by the text from their names to their values. Node 0 is the root.
struct MemberNames {
    private struct Node {
        /// Sorted by bytes.
        var children: [(byte: UInt8, node: Int32)] = []
        /// The members whose names lead through the node, in order.
        var members: [Int32] = []
        /// The member whose text ends here.
        var member: Int32 = -1
        var depth = 0
    }

    private var nodes: [Node] = [Node()]
    /// The text of each member after its name's first quote.
    let texts: [[UInt8]]

    /// - Parameter colon: the text between a name's closing quote and the value.
    init(_ shape: ObjectShape, colon: [UInt8]) {
        texts = shape.members.map { JSONSpelling.contents(of: $0.name) + [UInt8(ascii: "\"")] + colon }
        for (member, text) in texts.enumerated() {
            var node = 0
            nodes[0].members.append(Int32(member))
            for byte in text {
                if let child = nodes[node].children.first(where: { $0.byte == byte })?.node {
                    node = Int(child)
                } else {
                    let child = nodes.count
                    nodes[node].children.append((byte, Int32(child)))
                    nodes.append(Node(depth: nodes[node].depth + 1))
                    node = child
                }
                nodes[node].members.append(Int32(member))
            }
            nodes[node].member = Int32(member)
        }
    }

    /// The node after a byte, if it leads to a member in the range.
    func next(_ node: Int32, _ byte: UInt8, in range: Range<Int32>) -> Int32? {
        guard let child = nodes[Int(node)].children.first(where: { $0.byte == byte })?.node,
            first(below: child, in: range) != nil
        else { return nil }
        return child
    }

    /// The bytes that may come after a node, whichever members are meant.
    func bytes(after node: Int32) -> [UInt8] { nodes[Int(node)].children.map(\.byte) }

    /// The member whose text is complete at a node; nil for none.
    func member(at node: Int32) -> Int32? {
        let member = nodes[Int(node)].member
        return member < 0 ? nil : member
    }

    /// The first member of the range whose name leads through a node.
    private func first(below node: Int32, in range: Range<Int32>) -> Int32? {
        let members = nodes[Int(node)].members
        var low = 0
        var high = members.count
        while low < high {
            let middle = (low + high) / 2
            if members[middle] < range.lowerBound { low = middle + 1 } else { high = middle }
        }
        return low < members.count && members[low] < range.upperBound ? members[low] : nil
    }

    /// The members of the range whose texts lead through a node.
    func members(after node: Int32, in range: Range<Int32>) -> [Int32] {
        nodes[Int(node)].members.filter { range.contains($0) }
    }

    /// Number of bytes that lead to a node.
    func depth(of node: Int32) -> Int { nodes[Int(node)].depth }
}
