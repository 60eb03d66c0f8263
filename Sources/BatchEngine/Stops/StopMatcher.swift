/// Finds stop strings in a text that comes in pieces, and holds back only what could still become one.
///
/// The text ends the moment it first contains a stop string, and is cut before it; if several end at
/// the same byte, before the longest. So the outcome depends on the text alone, not on its pieces.
package struct StopMatcher: Sendable {
    private let stops: StopSet
    private var node = 0
    private var held: [UInt8] = []
    /// True once a stop string was found; then nothing more is to be appended.
    package private(set) var hasStopped = false

    package init(_ stops: StopSet) {
        self.stops = stops
    }

    /// Takes the next piece and returns the text that is now certain not to belong to a stop string.
    /// - Parameter mayStop: whether a stop string counts that ends in this piece.
    package mutating func append(_ piece: String, mayStop: Bool = true) -> String {
        if stops.isEmpty || hasStopped { return hasStopped ? "" : piece }
        for byte in piece.utf8 {
            held.append(byte)
            node = stops.step(from: node, byte)
            let match = stops.nodes[node].match
            if match > 0, mayStop {
                hasStopped = true
                held.removeLast(match)
                return release(held.count)
            }
        }
        return release(held.count - stops.nodes[node].depth)
    }

    /// What is still held back at the end of the text.
    package mutating func finish() -> String {
        hasStopped ? "" : release(held.count)
    }

    /// A stop string begins with a whole character, so what is released ends with one.
    private mutating func release(_ count: Int) -> String {
        let text = String(decoding: held[..<count], as: UTF8.self)
        held.removeFirst(count)
        return text
    }
}
