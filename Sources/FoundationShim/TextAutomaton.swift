/// Finds any of several texts in a stream of bytes (Aho and Corasick, 1975), in linear time. States are numbers; in
/// state 0 none of the texts has begun.
package struct TextAutomaton: Sendable, Equatable {
    /// Length of each text in bytes.
    package let lengths: [Int]
    /// Number of matched bytes of a text, by state.
    package private(set) var depths = [0]
    /// Longest text that ends in a state; -1 for none.
    package private(set) var longest: [Int32] = [-1]
    /// State after the first byte of a text; 0 if none begins with it.
    package private(set) var beginnings = [Int32](repeating: 0, count: 256)
    /// States after other bytes, by state and byte.
    private var others: [UInt64: Int32] = [:]
    /// State of the longest proper suffix that begins a text, by state.
    private var fallbacks: [Int32] = [0]

    /// - Parameter texts: not empty; of equal ones the first counts.
    package init(_ texts: [[UInt8]]) {
        lengths = texts.map(\.count)
        var edges: [(parent: Int32, byte: UInt8, child: Int32)] = []
        for (number, text) in texts.enumerated() {
            var state: Int32 = 0
            for byte in text {
                if let child = child(of: state, byte) {
                    state = child
                    continue
                }
                let new = Int32(depths.count)
                depths.append(depths[Int(state)] + 1)
                longest.append(-1)
                fallbacks.append(0)
                if state == 0 { beginnings[Int(byte)] = new } else { others[Self.key(state, byte)] = new }
                edges.append((state, byte, new))
                state = new
            }
            if longest[Int(state)] < 0 { longest[Int(state)] = Int32(number) }
        }
        // States near the root first.
        edges.sort { (depths[Int($0.child)], $0.child) < (depths[Int($1.child)], $1.child) }
        for (parent, byte, child) in edges {
            let fallback = parent == 0 ? 0 : next(fallbacks[Int(parent)], byte)
            fallbacks[Int(child)] = fallback
            if longest[Int(child)] < 0 { longest[Int(child)] = longest[Int(fallback)] }
        }
    }

    private static func key(_ state: Int32, _ byte: UInt8) -> UInt64 { UInt64(state) << 8 | UInt64(byte) }

    private func child(of state: Int32, _ byte: UInt8) -> Int32? {
        if state > 0 { return others[Self.key(state, byte)] }
        let child = beginnings[Int(byte)]
        return child == 0 ? nil : child
    }

    /// Returns the state after one more byte.
    package func next(_ state: Int32, _ byte: UInt8) -> Int32 {
        var state = state
        while true {
            if let child = child(of: state, byte) { return child }
            if state == 0 { return 0 }
            state = fallbacks[Int(state)]
        }
    }
}
