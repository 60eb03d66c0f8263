import FoundationShim

/// Finds fixed texts in a text: at each position the longest that begins there.
///
/// An automaton over the reversed texts runs from the end of the text to its beginning: its state at a position
/// identifies the longest text that begins there. So the time is linear for any texts.
struct TokenFinder: Sendable {
    struct Hit {
        var start: Int
        var end: Int
        /// Index of the text.
        var index: Int
    }

    private let automaton: TextAutomaton

    /// - Parameter texts: well-formed UTF-8, not empty; of equal ones the first counts.
    init(_ texts: [[UInt8]]) { automaton = TextAutomaton(texts.map { $0.reversed() }) }

    /// Returns the longest text at each position where one begins; last position first.
    func hitsBackwards(in text: UnsafeBufferPointer<UInt8>) -> [Hit] {
        let (lengths, longest) = (automaton.lengths, automaton.longest)
        guard !lengths.isEmpty else { return [] }
        var hits: [Hit] = []
        var state: Int32 = 0
        automaton.beginnings.withUnsafeBufferPointer { beginnings in
            var i = text.count
            while i > 0 {
                i -= 1
                state = state == 0 ? beginnings[Int(text[i])] : automaton.next(state, text[i])
                if state == 0 { continue }
                let index = Int(longest[Int(state)])
                if index >= 0 { hits.append(Hit(start: i, end: i + lengths[index], index: index)) }
            }
        }
        return hits
    }
}
