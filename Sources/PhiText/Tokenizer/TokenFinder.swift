import FoundationShim

/// Finds fixed texts in a text: at each place the longest that begins there.
///
/// An automaton over the reversed texts is run from the end of the text to its beginning: its state at a place tells the
/// longest one that begins there. So the time is linear, whatever the texts.
struct TokenFinder: Sendable {
    struct Hit {
        var start: Int
        var end: Int
        /// Number of the text.
        var index: Int
    }

    private let automaton: TextAutomaton

    /// - Parameter texts: well-formed UTF-8, not empty; of equal ones the first counts.
    init(_ texts: [[UInt8]]) { automaton = TextAutomaton(texts.map { $0.reversed() }) }

    /// For each place where one of the texts begins, the longest one; last place first.
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
