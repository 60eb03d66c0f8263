/// Finds stop strings in a text that comes in pieces, and holds back only what could still become one.
///
/// The text ends the moment it first contains a stop string, and is cut before it; if several end at
/// the same byte, before the longest. So the outcome depends on the text alone, not on its pieces.
package struct StopMatcher: Sendable {
    private let stops: StopSet
    private var state: Int32 = 0
    private var held: [UInt8] = []
    /// What begins the part of the text that isn't searched; empty if all is.
    private let mark: [UInt8]
    /// The bytes at the end that may begin it. They are searched once they don't.
    private var marked: [UInt8] = []
    private var isOver = false
    /// True once a stop string was found; then nothing more is to be appended.
    package private(set) var hasStopped = false

    /// - Parameter mark: from it on the text isn't searched; empty if all is.
    package init(_ stops: StopSet, until mark: String = "") {
        (self.stops, self.mark) = (stops, Array(mark.utf8))
    }

    /// Takes the next piece and returns the text that is now certain not to belong to a stop string.
    /// - Parameter mayStop: whether a stop string counts that ends in this piece.
    package mutating func append(_ piece: String, mayStop: Bool = true) -> String {
        if stops.isEmpty || isOver || hasStopped { return hasStopped ? "" : piece }
        if mark.isEmpty { return search(piece.utf8, mayStop) }
        marked += piece.utf8
        let place = marked.firstRange(of: mark)?.lowerBound
        let count = place ?? marked.count - marked.heldBack(for: mark)
        let text = search(marked[..<count], mayStop)
        marked.removeFirst(count)
        guard place != nil, !hasStopped else { return text }
        isOver = true
        return text + release(held.count) + String(decoding: marked, as: UTF8.self)
    }

    private mutating func search(_ bytes: some Sequence<UInt8>, _ mayStop: Bool) -> String {
        let automaton = stops.automaton
        for byte in bytes {
            held.append(byte)
            state = automaton.next(state, byte)
            let match = automaton.longest[Int(state)]
            if match >= 0, mayStop {
                hasStopped = true
                held.removeLast(automaton.lengths[Int(match)])
                return release(held.count)
            }
        }
        return release(held.count - automaton.depths[Int(state)])
    }

    /// What is still held back at the end of the text.
    package mutating func finish() -> String {
        if isOver || hasStopped { return "" }
        let text = search(marked, true)
        return hasStopped ? text : text + release(held.count)
    }

    /// A stop string begins with a whole character, so what is released ends with one.
    private mutating func release(_ count: Int) -> String {
        let text = String(decoding: held[..<count], as: UTF8.self)
        held.removeFirst(count)
        return text
    }
}

extension [UInt8] {
    /// How many bytes at the end may begin a text that isn't there yet.
    func heldBack(for text: [UInt8]) -> Int {
        (1..<text.count).last { suffix($0).elementsEqual(text.prefix($0)) } ?? 0
    }
}
