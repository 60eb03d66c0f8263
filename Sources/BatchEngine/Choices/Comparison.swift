/// Given answers are compared: the log-probability of each token of their tree.
package struct Comparison: Goal {
    package let tree: ChoiceTree

    package init(_ tree: ChoiceTree) { self.tree = tree }

    package var maxTokens: Int { tree.depth }
    package var weight: Int { tree.weight }
    package var content: GoalContent? { tree.content }

    package func course(after prompt: [Int32], vocabularySize: Int) -> any Course {
        ChoiceWalk(tree, promptCount: prompt.count)
    }

    package func course(
        _ outcome: CourseOutcome, after prompt: [Int32], vocabularySize: Int
    ) -> (any Course)? {
        ChoiceWalk(tree, promptCount: prompt.count).finished(outcome)
    }
}
