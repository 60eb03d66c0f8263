/// How far the rows of a `ChoiceTree` are computed. One sequence goes through them, branch by branch: after the end of
/// one it goes back to where the next one leaves it, so that no row is computed twice.
struct ChoiceWalk: Sendable {
    let tree: ChoiceTree
    /// Of the prompt.
    private let promptCount: Int
    /// To the tree's questions, as far as they are there.
    private(set) var answers: [Float] = []
    /// The first row that is not answered.
    private var next = 0
    /// The tokens after the prompt, to the end of the branch under way.
    private(set) var path: [Int32]
    /// The sequence goes back to so many tokens before the next row.
    private var start: Int?

    init(_ tree: ChoiceTree, promptCount: Int) {
        self.tree = tree
        self.promptCount = promptCount
        path = tree.branch(from: 0)
    }

    var isDone: Bool { answers.count == tree.questionCount }

    /// How many tokens at the beginning may be in the cache when the sequence begins (again). What lies after the
    /// prompt changes from branch to branch and so can't be shared.
    var cacheable: Int { next == 0 ? promptCount - 1 : promptCount }

    /// The sequence begins (again), from its first token or what of the prompt is in the cache.
    mutating func begin() { start = nil }

    /// The next rows for the engine.
    /// - Parameter end: how many tokens the sequence has with them.
    mutating func input(_ sequence: RequestID, _ rows: ArraySlice<Int32>, end: Int) -> StepInput {
        let first = promptCount + tree.depths[next] - 1
        let asked = next..<next + max(0, end - first)
        let counts = asked.map { tree.starts[$0 + 1] - tree.starts[$0] }
        defer { start = nil }
        return StepInput(
            sequence: sequence, tokens: rows, start: start,
            targets: tree.questions[tree.starts[asked.lowerBound]..<tree.starts[asked.upperBound]],
            targetCounts: counts)
    }

    /// Takes the answers to the questions after the rows sent last.
    mutating func accept(_ new: [Float]) {
        answers += new
        while next < tree.depths.count, tree.starts[next + 1] <= answers.count { next += 1 }
    }

    /// Goes on to the branch of the first row that is not answered.
    /// - Returns: its rows.
    mutating func nextBranch() -> ArraySlice<Int32> {
        let kept = tree.depths[next] - 1
        path = path.prefix(kept) + tree.branch(from: next)
        start = promptCount + kept
        return path[kept...]
    }
}
