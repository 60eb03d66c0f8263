/// Answers to choose from, as one tree of their tokens: what several begin with is in it once.
///
/// Row 0 is the prompt's last token; each further row is a token of the tree, from the root on, and what begins
/// with it before what comes beside it. After each row the model is asked how likely each of the tokens is that may
/// follow: the next ones of the tree, and the tokens that end an answer where a choice is whole.
package struct LabelTree: Sendable, Equatable {
    /// Why choices make no tree.
    package enum Fault: Error, Equatable {
        /// Two of them, by their places, have the same tokens.
        case same(Int, Int)
        /// One has no tokens.
        case empty(Int)
        /// One has a token that ends an answer.
        case ended(Int)
    }

    /// Where among the answers to all questions those are that concern a choice.
    package struct Path: Sendable, Equatable {
        /// The places of its tokens, in their order.
        package var tokens: [Int]
        /// The places of the tokens that end an answer, after its last one.
        package var ends: Range<Int>
    }

    /// For each row, how many tokens of the tree lie before it and in it; 0 for the root.
    let depths: [Int]
    private let tokens: [Int32]
    private let parents: [Int]
    /// What is asked, row after row.
    let questions: [Int32]
    /// Where each row's questions begin, and at the end how many there are.
    let starts: [Int]
    /// A row's place among the questions of the one before it.
    private let places: [Int]
    /// Where each choice ends, in the order given.
    private let last: [Int]
    private let endCount: Int

    /// - Parameters:
    ///   - choices: the tokens of each, at least one choice.
    ///   - ends: the tokens that end an answer.
    package init(_ choices: [[Int32]], ends: Set<Int32>) throws(Fault) {
        var (depths, tokens, parents, places) = ([0], [Int32(-1)], [-1], [-1])
        var asked: [[Int32]] = [[]]
        var last = Array(repeating: 0, count: choices.count)
        var path = [0]
        var before: Int?
        // In the order of tokens, what begins alike lies side by side.
        for number in choices.indices.sorted(by: { Self.precedes(choices, $0, $1) }) {
            let choice = choices[number]
            if choice.isEmpty { throw .empty(number) }
            if choice.contains(where: ends.contains) { throw .ended(number) }
            let common = before.map { zip(choice, choices[$0]).prefix { $0 == $1 }.count } ?? 0
            if let before, common == choice.count { throw .same(before, number) }
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
        // After the tokens of the tree, in the order of their ids.
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

    /// What tells it from other trees.
    var content: RequestContent {
        var content = RequestContent("comparison")
        content.append(tokens)
        for numbers in [depths, starts, last, [endCount]] { content.append(numbers.map { Int32($0) }) }
        content.append(questions)
        return content
    }

    /// How many answers there are to all questions.
    package var questionCount: Int { questions.count }
    /// Tokens in the tree, each of which is computed once.
    package var tokenCount: Int { depths.count - 1 }
    /// What it takes of memory, in tokens.
    package var weight: Int { 10 * tokenCount + questionCount }
    /// The tokens of the longest choice.
    package var depth: Int { depths.max() ?? 0 }

    /// Where the answers for a choice are.
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

    /// A choice's own.
    package func tokens(of choice: Int) -> [Int32] { tokens(to: last[choice]) }

    /// The tokens that lead to a row, its own the last.
    func tokens(to row: Int) -> [Int32] {
        var row = row
        var found: [Int32] = []
        while row > 0 {
            found.append(tokens[row])
            row = parents[row]
        }
        return found.reversed()
    }

    /// The tokens of a row and of those after it, as long as each follows the one before: as far as one sequence goes.
    /// - Parameter limit: the row after the last that may be among them.
    func branch(from row: Int, below limit: Int = .max) -> [Int32] {
        var end = row + 1
        while end < min(limit, depths.count), depths[end] == depths[end - 1] + 1 { end += 1 }
        return Array(tokens[max(1, row)..<end])
    }
}
