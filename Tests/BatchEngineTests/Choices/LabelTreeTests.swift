import TestSupport
import Testing

@testable import BatchEngine

@Suite struct ChoiceTreeTests {
    @Test func beginningsAreThereOnce() {
        let tree = LabelTree([[5, 6, 7], [5, 6], [9], [5, 8]], ends: [2, 1])
        #expect(tree.tokenCount == 5 && tree.depth == 3)
        #expect(tree.depths == [0, 1, 2, 3, 2, 1])
        // What may follow the prompt; 5; 5 6, which is a choice itself; 5 6 7; 5 8; 9.
        let rows: [[Int32]] = [[5, 9], [6, 8], [7, 1, 2], [1, 2], [1, 2], [1, 2]]
        #expect(tree.questions == rows.flatMap { $0 })
        #expect(tree.path(of: 1) == .init(tokens: [0, 2], ends: 5..<7))
        #expect(tree.path(of: 0) == .init(tokens: [0, 2, 4], ends: 7..<9))
        #expect((0..<4).map { tree.tokens(of: $0) } == [[5, 6, 7], [5, 6], [9], [5, 8]])
        #expect(
            tree.branch(from: 0) == [5, 6, 7] && tree.branch(from: 4) == [8] && tree.branch(from: 5) == [9])
    }
}
