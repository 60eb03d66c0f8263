/// Regular expression of a tokenizer as a finite automaton: matching takes one table look-up a character, and linear
/// time for any text.
///
/// It finds the match of a backtracking matcher: the leftmost, and of several the one preferred by the order of
/// alternatives and the greediness of quantifiers. Whether a match ends before a character may depend on that
/// character, so it is stored in the transition on it.
package struct Pattern: Sendable {
    /// `table[state + class]`: the next state (already multiplied by the row length) shifted left by one, with the low
    /// bit set if a match ends before this character. State 0 is dead. The last class of a row is the end of the text.
    package let table: [UInt32]
    package let start: UInt32
    package let endClass: Int
    /// Classes of all scalars in pages of 256, which identical blocks of scalars share; before them the index of each
    /// block's page. ASCII's page is the first.
    package let classes: [UInt16]
    package static let asciiPage = 0x1100

    /// - Throws: `ConstraintFault` if it is not supported, or can match the empty text (splitting by it is not defined).
    package init(_ source: String) throws(ConstraintFault) {
        try self.init(try RegexParser.parse(source, .tokenizer))
    }

    /// A pattern that matches one fixed text.
    package init(literal: String) throws(ConstraintFault) {
        try self.init(.sequence(literal.unicodeScalars.map { .set(.one($0.value)) }))
    }

    private init(_ node: RegexNode) throws(ConstraintFault) {
        guard !node.canBeEmpty else {
            throw ConstraintFault(.unsupportedPattern, "a match of the empty text")
        }
        let program = try RegexProgram([node], limit: RegexLimits.patternStates)
        let classifier = program.classifier
        let count = classifier.classCount
        let isUsable = [Bool](repeating: true, count: count)
        var determinizer = Determinizer(program, 0, .preferred, isUsable: isUsable)
        var matches: Set<Int> = []
        var work = 0
        let automaton = determinizer.run(
            isMatch: { matches.insert(Int($0) * count + $1) },
            isWithin: { automaton, visits in
                work += visits
                return count < 256 && automaton.count < RegexLimits.searchStates
                    && work < RegexLimits.searchVisits
            })
        guard let automaton else { throw ConstraintFault(.tooLarge, "too many states or character classes") }
        let width = count + 1
        var table = [UInt32](repeating: 0, count: width)
        for state in 0..<automaton.count {
            table += (0..<count).map { cls in
                UInt32((Int(automaton.next(state, cls)) + 1) * width) << 1
                    | (matches.contains(state * count + cls) ? 1 : 0)
            }
            table.append(automaton.isFinal[state] ? 1 : 0)
        }
        self.table = table
        start = UInt32((Int(automaton.start) + 1) * width)
        endClass = count
        classes = Self.pages(classifier)
    }

    private static func pages(_ classifier: ScalarClassifier) -> [UInt16] {
        let (starts, runs) = (classifier.starts, classifier.classes)
        var (numbers, pages): ([UInt16], [UInt16]) = ([], [])
        var known: [[UInt16]: UInt16] = [:]
        var run = 0
        for block in 0..<UInt32(asciiPage) {
            // Most blocks are of one class, and share a page for it.
            var page: [UInt16] = []
            if run + 1 == starts.count || starts[run + 1] >= (block + 1) << 8 {
                page = [runs[run]]
            } else {
                for scalar in block << 8..<(block + 1) << 8 {
                    while run + 1 < starts.count, starts[run + 1] <= scalar { run += 1 }
                    page.append(runs[run])
                }
            }
            let number = known[page] ?? UInt16(asciiPage >> 8 + known.count)
            if known.updateValue(number, forKey: page) == nil {
                pages += page.count == 1 ? [UInt16](repeating: page[0], count: 256) : page
            }
            numbers.append(number)
            if run + 1 < starts.count, starts[run + 1] == (block + 1) << 8 { run += 1 }
        }
        return numbers + pages
    }
}
