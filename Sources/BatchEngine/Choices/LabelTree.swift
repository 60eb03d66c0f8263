/// Answers to choose from, as one tree of their tokens that has common prefixes once.
///
/// Row 0 is the prompt's last token. Each further row is a token of the tree, in depth-first order. After each row, the
/// log-probability of each possible next token is wanted: its children in the tree, and the tokens that end an answer
/// if one is complete. The tree is a request to score them all.
package struct LabelTree: RequestKind, Equatable {
    /// Indices of a choice's log-probabilities among the answers to all questions.
    package struct Path: Sendable, Equatable {
        /// Indices of its tokens, in order.
        package var tokens: [Int]
        /// Indices of the tokens that end an answer after it.
        package var ends: Range<Int>
    }

    /// Depth of each row in the tree; 0 for the root.
    let depths: [Int]
    private let tokens: [Int32]
    private let parents: [Int]
    /// Tokens whose log-probabilities are wanted, row after row.
    let questions: [Int32]
    /// Index of each row's first question, and at the end their number.
    let starts: [Int]
    /// Index of each row among the questions of its parent.
    private let places: [Int]
    /// Row of each choice's last token, in the order given.
    private let last: [Int]
    private let endCount: Int

    /// - Parameters:
    ///   - choices: the tokens of each, at least one choice; all differ, and none is empty or has one of the `ends`.
    ///   - ends: the tokens that end an answer.
    package init(_ choices: [[Int32]], ends: Set<Int32>) {
        var (depths, tokens, parents, places) = ([0], [Int32(-1)], [-1], [-1])
        var asked: [[Int32]] = [[]]
        var last = Array(repeating: 0, count: choices.count)
        var path = [0]
        var before: Int?
        // In the order of tokens, common prefixes are adjacent.
        for number in choices.indices.sorted(by: { Self.precedes(choices, $0, $1) }) {
            let choice = choices[number]
            let common = before.map { zip(choice, choices[$0]).prefix { $0 == $1 }.count } ?? 0
            precondition(common < choice.count, "choices differ, and have tokens")
            path.removeLast(path.count - 1 - common)
            for token in choice[common...] {
                let parent = path[path.count - 1]
                places.append(asked[parent].count)
                asked[parent].append(token)
                path.append(depths.count)
                depths.append(path.count - 1)
                tokens.append(token)
                parents.append(parent)
                asked.append([])
            }
            last[number] = depths.count - 1
            before = number
        }
        // After the children, in the order of their ids.
        for row in last { asked[row] += ends.sorted() }
        self.depths = depths
        self.tokens = tokens
        self.parents = parents
        self.places = places
        self.last = last
        endCount = ends.count
        questions = asked.flatMap { $0 }
        var start = 0
        starts = asked.map(\.count).reduce(into: [0]) { starts, count in
            start += count
            starts.append(start)
        }
    }

    private static func precedes(_ choices: [[Int32]], _ a: Int, _ b: Int) -> Bool {
        if choices[a].lexicographicallyPrecedes(choices[b]) { return true }
        return choices[a] == choices[b] && a < b
    }

    /// Identifies the tree among others.
    package var content: Digest? {
        var content = Digest("comparison")
        content.append(tokens)
        for numbers in [depths, starts, last, [endCount]] { content.append(numbers.map { Int32($0) }) }
        content.append(questions)
        return content
    }

    /// Number of questions, and so of their answers.
    package var questionCount: Int { questions.count }
    /// Tokens in the tree; each is computed once.
    package var tokenCount: Int { depths.count - 1 }
    /// Memory that it takes, in tokens.
    package var weight: Int { 10 * tokenCount + questionCount }
    /// Number of tokens of the longest choice.
    package var depth: Int { depths.max() ?? 0 }
    package var maxTokens: Int { depth }

    package func decoding(after prompt: [Int32]) -> any Decoding { LabelTreeScoring(self) }
    package func decoding(
        _ saved: SavedDecoding, after prompt: [Int32], vocabularySize: Int
    ) -> (any Decoding)? {
        saved.logprobs(count: questionCount).map { LabelTreeScoring(self, answers: $0) }
    }

    /// Returns the indices of a choice's answers.
    package func path(of choice: Int) -> Path {
        var row = last[choice]
        let ends = starts[row + 1] - endCount..<starts[row + 1]
        var path: [Int] = []
        while row > 0 {
            path.append(starts[parents[row]] + places[row])
            row = parents[row]
        }
        return Path(tokens: path.reversed(), ends: ends)
    }

    /// Returns the tokens of a choice.
    package func tokens(of choice: Int) -> [Int32] { tokens(to: last[choice]) }

    /// Returns the tokens from the root to a row, its own included.
    func tokens(to row: Int) -> [Int32] {
        var row = row
        var found: [Int32] = []
        while row > 0 {
            found.append(tokens[row])
            row = parents[row]
        }
        return found.reversed()
    }

    /// Returns the tokens of a row and its first descendants, as far as one sequence goes without going back.
    /// - Parameter limit: end of the rows to include.
    func branch(from row: Int, below limit: Int = .max) -> [Int32] {
        var end = row + 1
        while end < min(limit, depths.count), depths[end] == depths[end - 1] + 1 { end += 1 }
        return Array(tokens[max(1, row)..<end])
    }
}
