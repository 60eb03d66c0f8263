/// Finds stop strings in streamed text, and holds back only text that could become one.
///
/// The text ends as soon as it contains a stop string, and is cut before it; if several end at the same byte, before
/// the longest. So the result depends on the text alone, not on its pieces.
package struct StopMatcher: Sendable {
    private let stops: StopSet
    private var state: Int32 = 0
    private var held: [UInt8] = []
    /// Beginning of the part that isn't searched; empty if all is searched.
    private let mark: [UInt8]
    /// Bytes at the end that may begin the mark, not searched yet.
    private var marked: [UInt8] = []
    private var isOver = false
    /// Whether a stop string was found; then nothing more may be appended.
    package private(set) var hasStopped = false

    /// - Parameter mark: the text isn't searched from here on; empty if all is searched.
    package init(_ stops: StopSet, until mark: String = "") {
        (self.stops, self.mark) = (stops, Array(mark.utf8))
    }

    /// Takes the next piece and returns the text that can no longer belong to a stop string.
    /// - Parameter mayStop: whether a stop string that ends in this piece counts.
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

    /// Returns the text still held back at the end.
    package mutating func finish() -> String {
        if isOver || hasStopped { return "" }
        let text = search(marked, true)
        return hasStopped ? text : text + release(held.count)
    }

    /// Stop strings begin with a whole character, so the released text ends with one.
    private mutating func release(_ count: Int) -> String {
        let text = String(decoding: held[..<count], as: UTF8.self)
        held.removeFirst(count)
        return text
    }
}

extension [UInt8] {
    /// Returns the number of bytes at the end that may begin `text`.
    func heldBack(for text: [UInt8]) -> Int {
        (1..<text.count).last { suffix($0).elementsEqual(text.prefix($0)) } ?? 0
    }
}
