/// A list of texts.
///
/// If only one text is left, the state is the index in it; so only shared beginnings have nodes.
package final class LiteralText: ByteAutomaton {
    /// Edges of a node, in the order of their bytes, are `edgeStarts[node]..<edgeStarts[node + 1]`.
    private let edgeStarts: [Int32]
    private let edgeBytes: [UInt8]
    private let edgeStates: [Int32]
    private let finals: [Bool]
    private let fewest: [Int32]
    /// All texts, each with one byte more at its end.
    private let bytes: [UInt8]
    /// The index of each text in `bytes`, and the end of all.
    private let starts: [Int32]
    /// States below are nodes, others indices in `bytes`.
    private let nodeCount: Int32

    /// - Precondition: there is at least one.
    package init(_ texts: [[UInt8]]) {
        precondition(!texts.isEmpty, "a list of no texts")
        var starts: [Int32] = []
        var bytes: [UInt8] = []
        var last: [UInt8]?
        for text in texts.sorted(by: { $0.lexicographicallyPrecedes($1) }) where text != last {
            starts.append(Int32(bytes.count))
            bytes += text
            bytes.append(0)
            last = text
        }
        let count = starts.count
        starts.append(Int32(bytes.count))
        func length(_ text: Int) -> Int { Int(starts[text + 1] - starts[text]) - 1 }
        func byte(_ text: Int, _ depth: Int) -> UInt8 { bytes[Int(starts[text]) + depth] }

        var (edgeStarts, edgeBytes, edgeStates): ([Int32], [UInt8], [Int32]) = ([0], [], [])
        var finals: [Bool] = []
        // Nodes in the order of their depth: each stands for consecutive texts that are equal so far.
        var nodes: [(texts: Range<Int>, depth: Int)] = [(0..<count, 0)]
        // States of texts are negative until the nodes are counted.
        var node = 0
        while node < nodes.count {
            let (range, depth) = nodes[node]
            var first = range.lowerBound
            let isFinal = length(first) == depth
            finals.append(isFinal)
            if isFinal { first += 1 }
            while first < range.upperBound {
                let next = byte(first, depth)
                var end = first + 1
                while end < range.upperBound, byte(end, depth) == next { end += 1 }
                edgeBytes.append(next)
                if end - first == 1 {
                    edgeStates.append(-1 - (starts[first] + Int32(depth) + 1))
                } else {
                    edgeStates.append(Int32(nodes.count))
                    nodes.append((first..<end, depth + 1))
                }
                first = end
            }
            edgeStarts.append(Int32(edgeBytes.count))
            node += 1
        }
        let nodeCount = Int32(nodes.count)
        for i in edgeStates.indices where edgeStates[i] < 0 { edgeStates[i] = nodeCount - 1 - edgeStates[i] }
        var fewest = [Int32](repeating: 0, count: nodes.count)
        for node in nodes.indices.reversed() where !finals[node] {
            var least = Int32.max
            for edge in edgeStarts[node]..<edgeStarts[node + 1] {
                let state = edgeStates[Int(edge)]
                let place = Int(state - nodeCount)
                let bytes =
                    state < nodeCount ? fewest[Int(state)] : Int32(Self.end(place, starts) - place)
                least = min(least, 1 + bytes)
            }
            fewest[node] = least
        }
        (self.starts, self.bytes, self.nodeCount) = (starts, bytes, nodeCount)
        (self.edgeStarts, self.edgeBytes, self.edgeStates) = (edgeStarts, edgeBytes, edgeStates)
        (self.finals, self.fewest) = (finals, fewest)
    }

    package var start: Int32 { 0 }

    package func next(_ state: Int32, _ byte: UInt8) -> Int32 {
        guard state < nodeCount else {
            let place = Int(state - nodeCount)
            return bytes[place] == byte && !isEnd(place) ? state + 1 : -1
        }
        var low = Int(edgeStarts[Int(state)])
        var high = Int(edgeStarts[Int(state) + 1])
        while low < high {
            let middle = (low + high) / 2
            if edgeBytes[middle] < byte { low = middle + 1 } else { high = middle }
        }
        return low < Int(edgeStarts[Int(state) + 1]) && edgeBytes[low] == byte ? edgeStates[low] : -1
    }

    package func isFinal(_ state: Int32) -> Bool {
        state < nodeCount ? finals[Int(state)] : isEnd(Int(state - nodeCount))
    }

    package func fewestBytes(_ state: Int32) -> Int {
        guard state >= nodeCount else { return Int(fewest[Int(state)]) }
        let place = Int(state - nodeCount)
        return Self.end(place, starts) - place
    }

    /// By the byte that would follow: no text has a UTF-8 continuation byte there.
    package func isBetweenScalars(_ state: Int32) -> Bool {
        (UInt8(0x80)...0xBF).allSatisfy { next(state, $0) < 0 }
    }

    // A text may contain the end's byte as well, so only the indices decide.
    private func isEnd(_ place: Int) -> Bool { bytes[place] == 0 && Self.end(place, starts) == place }

    /// The end of the text that contains an index.
    private static func end(_ place: Int, _ starts: [Int32]) -> Int {
        var low = 0
        var high = starts.count - 1
        while high - low > 1 {
            let middle = (low + high) / 2
            if Int(starts[middle]) <= place { low = middle } else { high = middle }
        }
        return Int(starts[low + 1]) - 1
    }
}
