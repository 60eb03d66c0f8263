/// Given answers are compared: the log-probability of each token of their tree.
package struct Comparison: Goal {
    package let tree: ChoiceTree

    package init(_ tree: ChoiceTree) { self.tree = tree }

    package var maxTokens: Int { tree.depth }
    package var weight: Int { tree.weight }
    package var content: AnyHashable? { tree }

    package func course(after prompt: [Int32], vocabularySize: Int) -> any Course {
        ChoiceWalk(tree, promptCount: prompt.count)
    }
}

extension ChoiceTree: Hashable {
    /// By its size alone: those of a job's lines are alike, or their prompts differ.
    package func hash(into hasher: inout Hasher) { hasher.combine(questionCount) }
}
