/// Decoding state of a `LabelTree`, or of a range of its rows. One sequence computes it branch by branch: at the end of
/// a branch it goes back to where the next one leaves, so that no row is computed twice.
package struct LabelTreeScoring: Decoding {
    private let tree: LabelTree
    /// Rows that it computes.
    private let rows: Range<Int>
    /// Answers to their questions so far.
    package private(set) var answers: [Float]
    package private(set) var fault: ChoiceFault?
    /// First row without answers.
    private var next = 0
    /// Tokens after the prompt, to the end of the current branch.
    private var path: [Int32]
    /// Row after that end.
    private var branchEnd: Int

    /// - Parameter rows: all by default.
    init(_ tree: LabelTree, rows: Range<Int>? = nil, answers: [Float] = []) {
        (self.tree, self.answers) = (tree, answers)
        self.rows = rows ?? tree.depths.indices
        next = self.rows.lowerBound
        path = tree.tokens(to: next)
        branchEnd = next
        goOn()
    }

    /// Continues with the branch of the first row without answers.
    /// - Returns: its tokens.
    @discardableResult private mutating func goOn() -> [Int32] {
        let kept = max(0, tree.depths[next] - 1)
        let branch = tree.branch(from: next, below: rows.upperBound)
        path = path.prefix(kept) + branch
        branchEnd = next == 0 ? 1 + branch.count : next + branch.count
        return branch
    }

    /// Each part computes the end of the prompt again, which is too much for fewer rows.
    private static let leastRows = 128

    package func parts(atMost most: Int) -> [any Decoding] {
        let count = min(most, rows.count / Self.leastRows)
        guard count > 1 else { return [] }
        let starts = (0...count).map { $0 * rows.count / count }
        return zip(starts, starts.dropFirst()).map { LabelTreeScoring(tree, rows: $0..<$1) }
    }

    package mutating func join(_ parts: [any Decoding]) {
        let walks = parts.compactMap { $0 as? LabelTreeScoring }
        fault = walks.lazy.compactMap(\.fault).first
        answers = fault == nil ? walks.flatMap(\.answers) : []
    }

    package var saved: SavedDecoding { SavedDecoding(logprobs: answers) }
    package var following: ArraySlice<Int32> { path[...] }
    package var isDone: Bool {
        fault != nil || answers.count == tree.starts[rows.upperBound] - tree.starts[rows.lowerBound]
    }
    /// Tokens after the prompt change from branch to branch, so they can't be shared.
    package var cacheable: Int { next == 0 ? -1 : 0 }

    package func input(
        _ cache: SequenceCache, _ rows: ArraySlice<Int32>, end: Int, isLast: Bool, draft: [Int32]
    ) -> PassInput {
        let asked = next..<next + max(0, end - tree.depths[next] + 1)
        let counts = asked.map { tree.starts[$0 + 1] - tree.starts[$0] }
        return PassInput(
            cache, rows,
            targets: tree.questions[tree.starts[asked.lowerBound]..<tree.starts[asked.upperBound]],
            targetCounts: counts)
    }

    package mutating func take(_ answer: PassAnswer, note: (SampledToken) -> String?) -> PassOutcome {
        if answer.logprobs.contains(where: \.isNaN) {
            // No single token is reported.
            (fault, answers) = (.notFinite, [])
            return PassOutcome()
        }
        answers += answer.logprobs
        let answered = tree.starts[rows.lowerBound] + answers.count
        while next < rows.upperBound, tree.starts[next + 1] <= answered { next += 1 }
        guard !isDone, next == branchEnd else { return PassOutcome() }
        return PassOutcome(rows: goOn()[...])
    }
}
