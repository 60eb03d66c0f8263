/// Partitions all scalars into the classes that a pattern's sets distinguish.
package struct ScalarClassifier: Sendable {
    package let classCount: Int
    private let ascii: [UInt16]
    /// First scalar of each run of one class, and its class.
    package let starts: [UInt32]
    package let classes: [UInt16]
    /// Whether a set contains a class: at `set * classCount + class`.
    private let members: [Bool]

    /// - Throws: `ConstraintFault` if the sets are too many.
    package init(_ sets: [ScalarSet]) throws(ConstraintFault) {
        var starts: [UInt32] = [0]
        for cut in sets.flatMap({ $0.ranges.flatMap { [$0.lowerBound, $0.upperBound + 1] } }).sorted()
        where cut > starts[starts.count - 1] && cut <= ScalarSet.lastScalar {
            starts.append(cut)
        }
        let tooMany = ConstraintFault(.tooLarge, "too many different character classes")
        guard starts.count * (sets.count + 1) <= RegexLimits.classTable else { throw tooMany }

        // Each set splits the classes so far into those inside and outside it.
        var classes = [Int](repeating: 0, count: starts.count)
        var count = 1
        for set in sets {
            var inside = [Int](repeating: -1, count: count)
            var outside = inside
            var (next, range) = (0, 0)
            for (i, start) in starts.enumerated() {
                while range < set.ranges.count, set.ranges[range].upperBound < start { range += 1 }
                let isInside = range < set.ranges.count && set.ranges[range].lowerBound <= start
                let known = isInside ? inside[classes[i]] : outside[classes[i]]
                let index = known >= 0 ? known : next
                if known < 0 {
                    next += 1
                    if isInside { inside[classes[i]] = index } else { outside[classes[i]] = index }
                }
                classes[i] = index
            }
            count = next
        }
        guard count <= UInt16.max, count * sets.count <= RegexLimits.classTable else { throw tooMany }

        var sample = [UInt32](repeating: 0, count: count)
        for (i, index) in classes.enumerated() { sample[index] = starts[i] }
        members = sets.flatMap { set in sample.map { set.contains($0) } }
        classCount = count
        var runs: [(start: UInt32, index: UInt16)] = []
        for (i, start) in starts.enumerated() where runs.last.map({ Int($0.index) }) != classes[i] {
            runs.append((start, UInt16(classes[i])))
        }
        self.starts = runs.map(\.start)
        self.classes = runs.map(\.index)
        ascii = (0..<128).map { Self.find($0, runs.map(\.start), runs.map(\.index)) }
    }

    private static func find(_ scalar: UInt32, _ starts: [UInt32], _ classes: [UInt16]) -> UInt16 {
        var low = 0
        var high = starts.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if starts[middle] <= scalar { low = middle } else { high = middle }
        }
        return classes[low]
    }

    package func classIndex(of scalar: UInt32) -> Int {
        Int(scalar < 128 ? ascii[Int(scalar)] : Self.find(scalar, starts, classes))
    }

    package func contains(_ set: Int, _ index: Int) -> Bool { members[set * classCount + index] }
}
