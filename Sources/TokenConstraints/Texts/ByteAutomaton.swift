/// A set of texts, told byte by byte. States are numbers.
///
/// No state is a dead end: from each of them some text leads to a final one. Several threads may ask at the same time.
package protocol ByteAutomaton: AnyObject, Sendable {
    /// The state before the first byte.
    var start: Int32 { get }
    /// The state after one more byte; -1 if no text goes on that way.
    func next(_ state: Int32, _ byte: UInt8) -> Int32
    /// Whether the text may end here.
    func isFinal(_ state: Int32) -> Bool
    /// Bytes of the shortest way to an end; 0 where the text may end.
    func fewestBytes(_ state: Int32) -> Int
    /// Whether this is no place within a scalar or an escape. Only asked where texts are the contents of strings.
    func isBetweenScalars(_ state: Int32) -> Bool
}

extension ByteAutomaton {
    /// The state at the end of a text; nil if it is none of the set's.
    /// - Parameter state: where it begins; the start by default.
    func end(of text: [UInt8], from state: Int32? = nil) -> Int32? {
        var state = state ?? start
        for byte in text {
            state = next(state, byte)
            if state < 0 { return nil }
        }
        return isFinal(state) ? state : nil
    }

    /// The shortest way from a state to an end; of equals the one with the smallest bytes.
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
