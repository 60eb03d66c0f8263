/// Request to score given answers: the log-probability of each token of their tree.
package struct Comparison: RequestKind {
    package let tree: LabelTree

    package init(_ tree: LabelTree) { self.tree = tree }

    package var maxTokens: Int { tree.depth }
    package var weight: Int { tree.weight }
    package var content: RequestContent? { tree.content }

    package func decoding(after prompt: [Int32]) -> any Decoding {
        LabelTreeScoring(tree, promptCount: prompt.count)
    }
    package func decoding(
        _ saved: SavedDecoding, after prompt: [Int32], vocabularySize: Int
    ) -> (any Decoding)? {
        LabelTreeScoring(tree, promptCount: prompt.count).finished(saved)
    }
}
