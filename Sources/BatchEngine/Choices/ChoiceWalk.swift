/// How far the rows of a `ChoiceTree` are computed. One sequence goes through them, branch by branch: after the end of
/// one it goes back to where the next one leaves it, so that no row is computed twice.
package struct ChoiceWalk: Course {
    private let tree: ChoiceTree
    /// How many tokens the prompt has.
    private let promptCount: Int
    /// Answers to the tree's questions, as far as they are there.
    package private(set) var answers: [Float] = []
    package private(set) var fault: ChoiceFault?
    /// The first row that is not answered.
    private var next = 0
    /// The tokens after the prompt, to the end of the branch under way.
    private var path: [Int32]
    /// The row after that end.
    private var branchEnd: Int
    /// The sequence goes back to so many tokens before the next row.
    private var start: Int?

    init(_ tree: ChoiceTree, promptCount: Int) {
        self.tree = tree
        self.promptCount = promptCount
        path = tree.branch(from: 0)
        branchEnd = 1 + path.count
    }

    /// With all answers; nil if there are others than the tree has questions.
    func finished(_ outcome: CourseOutcome) -> ChoiceWalk? {
        guard outcome == CourseOutcome(logprobs: outcome.logprobs),
            outcome.logprobs.count == tree.questionCount
        else { return nil }
        var walk = self
        walk.answers = outcome.logprobs
        return walk
    }

    package var outcome: CourseOutcome? { CourseOutcome(logprobs: answers) }
    package var following: ArraySlice<Int32> { path[...] }
    /// A branch makes room for the next.
    package var onlyGrows: Bool { false }
    package var isDone: Bool { fault != nil || answers.count == tree.questionCount }
    /// Nothing is said of single tokens.
    package var progress: Int { 0 }

    /// What lies after the prompt changes from branch to branch and so can't be shared.
    package var cacheable: Int { next == 0 ? -1 : 0 }

    package mutating func begin() { start = nil }

    package func input(
        _ sequence: RequestID, _ rows: ArraySlice<Int32>, end: Int, isLast: Bool, guess: [Int32]
    ) -> StepInput {
        let asked = next..<next + max(0, end - tree.depths[next] + 1)
        let counts = asked.map { tree.starts[$0 + 1] - tree.starts[$0] }
        return StepInput(
            sequence: sequence, tokens: rows, start: start,
            targets: tree.questions[tree.starts[asked.lowerBound]..<tree.starts[asked.upperBound]],
            targetCounts: counts)
    }

    package mutating func take(_ answer: StepAnswer, note: (TokenChoice) -> String?) -> CourseStep {
        start = nil
        if answer.logprobs.contains(where: \.isNaN) { fault = .notFinite }
        answers += answer.logprobs
        while next < tree.depths.count, tree.starts[next + 1] <= answers.count { next += 1 }
        guard !isDone, next == branchEnd else { return CourseStep() }
        // On to the branch of the first row that is not answered.
        let kept = tree.depths[next] - 1
        let branch = tree.branch(from: next)
        path = path.prefix(kept) + branch
        branchEnd = next + branch.count
        start = promptCount + kept
        return CourseStep(rows: path[kept...])
    }
}
