/// A set of texts, as an automaton over bytes. States are numbers.
///
/// No state is a dead end: a final one can be reached from each. Safe to use from several threads.
package protocol ByteAutomaton: AnyObject, Sendable {
    /// The state before the first byte.
    var start: Int32 { get }
    /// Returns the state after one more byte; -1 if no text continues so.
    func next(_ state: Int32, _ byte: UInt8) -> Int32
    /// Whether the text may end here.
    func isFinal(_ state: Int32) -> Bool
    /// Bytes of the shortest way to an end; 0 where the text may end.
    func fewestBytes(_ state: Int32) -> Int
    /// Whether this is not within a scalar or an escape. Only for the contents of strings.
    func isBetweenScalars(_ state: Int32) -> Bool
}

extension ByteAutomaton {
    /// Returns the state at the end of a text; nil if it is not in the set.
    /// - Parameter state: the state before it; the start by default.
    func end(of text: [UInt8], from state: Int32? = nil) -> Int32? {
        var state = state ?? start
        for byte in text {
            state = next(state, byte)
            if state < 0 { return nil }
        }
        return isFinal(state) ? state : nil
    }

    /// Returns the shortest text from a state to an end; of equally short ones the smallest.
    package func shortestEnd(_ state: Int32) -> [UInt8] {
        var text: [UInt8] = []
        var state = state
        while !isFinal(state) {
            let wanted = fewestBytes(state) - 1
            for byte in UInt8.min...UInt8.max {
                let after = next(state, byte)
                guard after >= 0, fewestBytes(after) == wanted else { continue }
                text.append(byte)
                state = after
                break
            }
        }
        return text
    }
}
