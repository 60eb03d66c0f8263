/// Deterministic automaton over classes of scalars.
package struct ScalarAutomaton: Sendable {
    @usableFromInline package let classCount: Int
    /// State after `state * classCount + class`, or -1.
    @usableFromInline package var transitions: [Int32] = []
    package var isFinal: [Bool] = []
    /// -1 if no text is accepted.
    package var start: Int32 = 0

    package var count: Int { isFinal.count }

    package init(classCount: Int) { self.classCount = classCount }

    /// Creates one state that loops on these classes and accepts.
    package init(repeating classes: [Bool]) {
        self.init(classCount: classes.count)
        let state = addState(isFinal: true)
        for (i, isTaken) in classes.enumerated() where isTaken { set(state, i, state) }
    }

    package mutating func addState(isFinal final: Bool) -> Int32 {
        transitions += repeatElement(-1, count: classCount)
        isFinal.append(final)
        return Int32(isFinal.count - 1)
    }

    package mutating func set(_ state: Int32, _ classIndex: Int, _ next: Int32) {
        transitions[Int(state) * classCount + classIndex] = next
    }

    @inlinable @inline(__always) package func next(_ state: Int, _ classIndex: Int) -> Int32 {
        transitions[state * classCount + classIndex]
    }

    // MARK: Products

    /// Returns the automaton of texts that both accept.
    /// - Parameter isWithin: called after each state, with the steps since; false gives up.
    /// - Returns: nil if given up.
    package func intersection(
        _ other: ScalarAutomaton, isWithin: (ScalarAutomaton, _ steps: Int) -> Bool
    ) -> ScalarAutomaton? {
        var product = ScalarAutomaton(classCount: classCount)
        product.start = -1
        guard start >= 0, other.start >= 0 else { return product }
        var pairs: [(Int, Int)] = []
        var indices: [UInt64: Int32] = [:]
        func index(_ a: Int32, _ b: Int32, _ product: inout ScalarAutomaton) -> Int32 {
            let key = UInt64(UInt32(bitPattern: a)) << 32 | UInt64(UInt32(bitPattern: b))
            if let known = indices[key] { return known }
            let state = product.addState(isFinal: isFinal[Int(a)] && other.isFinal[Int(b)])
            indices[key] = state
            pairs.append((Int(a), Int(b)))
            return state
        }
        product.start = index(start, other.start, &product)
        var done = 0
        while done < pairs.count {
            let (a, b) = pairs[done]
            for i in 0..<classCount {
                let nextA = next(a, i)
                let nextB = other.next(b, i)
                guard nextA >= 0, nextB >= 0 else { continue }
                product.set(Int32(done), i, index(nextA, nextB, &product))
            }
            guard isWithin(product, 2 * classCount + 8) else { return nil }
            done += 1
        }
        return product
    }

    /// Returns the automaton of all texts that it doesn't accept.
    package func complement(_ isUsable: [Bool]) -> ScalarAutomaton {
        var others = self
        for state in 0..<count { others.isFinal[state].toggle() }
        let lost = others.addState(isFinal: true)
        for state in 0...lost {
            for i in isUsable.indices where isUsable[i] && others.next(Int(state), i) < 0 {
                others.set(state, i, lost)
            }
        }
        if start < 0 { others.start = lost }
        return others
    }
}
