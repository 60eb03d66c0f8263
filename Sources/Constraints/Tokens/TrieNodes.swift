/// The nodes of a trie of byte texts. Node 0 is the root.
struct TrieNodes: Sendable {
    /// The byte that leads to a node.
    let byte: [UInt8]
    /// How many bytes lead to it.
    let depth: [UInt16]
    /// How many scalars begin in those bytes.
    let scalars: [UInt16]
    /// The first node that isn't below it.
    let end: [Int32]
    /// How many texts come before those of the node; one more entry at the end.
    let first: [Int32]
    /// The classes of all bytes below a node, a bit each.
    let classes: [UInt64]
    /// The most scalars that begin below a node, or as many as fit.
    let height: [UInt8]
    /// Whether all texts below a node between two scalars consist of whole scalars.
    let isWhole: [Bool]
    /// The root's children by their byte; -1 where there is none.
    private let children: [Int32]

    /// - Parameter texts: in order, none empty.
    init(_ texts: some Sequence<ArraySlice<UInt8>>) {
        var byte: [UInt8] = [0]
        var depth: [UInt16] = [0]
        var scalars: [UInt16] = [0]
        var end: [Int32] = [0]
        var first: [Int32] = [0]
        var classes: [UInt64] = [0]
        var height: [UInt8] = [0]
        var path: [Int] = [0]
        var last: ArraySlice<UInt8> = []
        var rank: Int32 = 0
        func close(to length: Int) {
            while path.count > length + 1 {
                let node = path.removeLast()
                end[node] = Int32(byte.count)
                if let parent = path.last {
                    classes[parent] |= classes[node] | 1 << UInt64(ByteClass.of(byte[node]))
                    let own = scalars[node] - scalars[parent]
                    height[parent] = max(height[parent], UInt8(clamping: UInt16(height[node]) + own))
                }
            }
        }
        for text in texts {
            let common = zip(last, text).prefix { $0 == $1 }.count
            close(to: common)
            for next in text.dropFirst(common) {
                scalars.append(scalars[path[path.count - 1]] &+ (next & 0xC0 == 0x80 ? 0 : 1))
                path.append(byte.count)
                byte.append(next)
                depth.append(UInt16(clamping: path.count - 1))
                end.append(0)
                first.append(rank)
                classes.append(0)
                height.append(0)
            }
            rank += 1
            last = text
        }
        close(to: 0)
        end[0] = Int32(byte.count)
        first.append(rank)
        var children = [Int32](repeating: -1, count: 256)
        var node = 1
        while node < byte.count {
            children[Int(byte[node])] = Int32(node)
            node = Int(end[node])
        }
        isWhole = Self.findWhole(byte, end, first)
        self.byte = byte
        self.depth = depth
        self.scalars = scalars
        self.end = end
        self.first = first
        self.classes = classes
        self.height = height
        self.children = children
    }

    /// - Parameter first: as in the member of that name.
    private static func findWhole(_ byte: [UInt8], _ end: [Int32], _ first: [Int32]) -> [Bool] {
        var isWhole = [Bool](repeating: true, count: byte.count)
        // The way down, with the bytes that the last scalar lacks; -1 where that is none of UTF-8.
        var path: [(node: Int, lacking: Int)] = [(0, 0)]
        for node in byte.indices.dropFirst() {
            while let last = path.last, Int(end[last.node]) <= node { path.removeLast() }
            let before = path.last?.lacking ?? 0
            let lacking: Int
            switch byte[node] {
            case 0x80...0xBF: lacking = before > 0 ? before - 1 : -1
            case 0xC0...0xDF: lacking = before == 0 ? 1 : -1
            case 0xE0...0xEF: lacking = before == 0 ? 2 : -1
            case 0xF0...0xFF: lacking = before == 0 ? 3 : -1
            default: lacking = before == 0 ? 0 : -1
            }
            if lacking < 0 || lacking > 0 && first[node] < first[node + 1] {
                for step in path { isWhole[step.node] = false }
                isWhole[node] = lacking > 0
            }
            path.append((node, lacking))
        }
        return isWhole
    }

    var count: Int { byte.count }

    /// The nodes for a walk through all of them, which must not look twice whether an index is right.
    struct View {
        let count: Int
        let byte: UnsafePointer<UInt8>
        let depth: UnsafePointer<UInt16>
        let scalars: UnsafePointer<UInt16>
        let end: UnsafePointer<Int32>
        let first: UnsafePointer<Int32>
        let classes: UnsafePointer<UInt64>
        let height: UnsafePointer<UInt8>
        let isWhole: UnsafePointer<Bool>
    }

    /// - Parameter body: must not keep the view.
    func withView(_ body: (View) -> Void) {
        byte.withUnsafeBufferPointer { byte in
            depth.withUnsafeBufferPointer { depth in
                scalars.withUnsafeBufferPointer { scalars in
                    end.withUnsafeBufferPointer { end in
                        first.withUnsafeBufferPointer { first in
                            classes.withUnsafeBufferPointer { classes in
                                height.withUnsafeBufferPointer { height in
                                    isWhole.withUnsafeBufferPointer { isWhole in
                                        guard let byte = byte.baseAddress, let depth = depth.baseAddress,
                                            let scalars = scalars.baseAddress, let end = end.baseAddress,
                                            let first = first.baseAddress, let classes = classes.baseAddress,
                                            let height = height.baseAddress, let isWhole = isWhole.baseAddress
                                        else { return }
                                        body(
                                            View(
                                                count: count, byte: byte, depth: depth, scalars: scalars,
                                                end: end, first: first, classes: classes, height: height,
                                                isWhole: isWhole))
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    /// Goes through the nodes to which steps lead, each with the state there.
    /// - Parameter next: the state after one more byte; -1 if there is none.
    func walk(from start: Int32, next: (Int32, UInt8) -> Int32, visit: (Int, Int32) -> Void) {
        var path = [start]
        var node = 1
        while node < count {
            path.removeLast(path.count - Int(depth[node]))
            let state = next(path[path.count - 1], byte[node])
            path.append(state)
            if state < 0 {
                node = Int(end[node])
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
        while child < end[node] {
            if self.byte[child] == byte { return child }
            if self.byte[child] > byte { return nil }
            child = Int(end[child])
        }
        return nil
    }

    /// The places of the texts that end at a node: the first of them, and the one after the last.
    func texts(at node: Int) -> (from: Int, to: Int) { (Int(first[node]), Int(first[node + 1])) }

    /// The places of the texts that end at a node or below it.
    func texts(below node: Int) -> (from: Int, to: Int) { (Int(first[node]), Int(first[Int(end[node])])) }
}

/// Kinds of bytes, by which a walk sees that all of a subtree is alike: every printable character that means something
/// in patterns has its own, letters and digits stand together.
enum ByteClass {
    static func of(_ byte: UInt8) -> Int { Int(table[Int(byte)]) }

    static let count = 64

    /// Those of ASCII's letters and digits.
    static let alphanumeric: UInt64 = 0b11111
    /// Those of the first bytes of all scalars that take several.
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
        // Those with spaces among their scalars, which patterns tell apart, have a class for themselves.
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
