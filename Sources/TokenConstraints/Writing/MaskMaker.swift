import BatchEngine

/// The tokens allowed in a state.
struct StateMask {
    var mask: TokenMask
    /// The number of tokens left from which space excludes no token.
    var safe = 1
    /// Whether a token was excluded for lack of space.
    var isLimited = false
}

/// Makes the mask of one state, by a walk through the trie of tokens that skips where the text can't continue.
struct MaskMaker<FollowedBy: AnswerWriter> {
    let writer: FollowedBy
    let tokens: TokenTrie
    /// Number of tokens left; nil if it doesn't matter.
    let left: Int?
    var result: StateMask
    /// The last result of `admits`, as tokens that lead to one state are often neighbours.
    private var last: (state: Int32, answer: Bool) = (-1, false)

    init(_ writer: FollowedBy, _ tokens: TokenTrie, left: Int?) {
        self.writer = writer
        self.tokens = tokens
        self.left = left
        result = StateMask(mask: TokenMask(count: tokens.count))
    }

    /// - Parameter isStart: whether no token has come yet.
    mutating func wholeMask(of state: Int32, isStart: Bool) -> StateMask {
        walk(tokens.nodes, below: 0, from: state)
        addEnds(of: state, isStart: isStart)
        return result
    }

    /// Adds tokens that end the text, and those whose first space is dropped.
    mutating func addEnds(of state: Int32, isStart: Bool) {
        if isStart, tokens.dropsFirstSpace, let space = tokens.nodes.child(of: 0, UInt8(ascii: " ")) {
            // Without that space they may be others than with it, if a text may begin with one.
            let (from, to) = tokens.nodes.texts(below: space)
            for token in tokens.ids[from..<to] { result.mask[token] = false }
            walk(tokens.nodes, below: space, from: state)
        }
        if writer.isFinal(state) { for end in tokens.endOfSequence { result.mask.insert(end) } }
    }

    /// Whether the text can end after a token that leads to this state.
    mutating func admits(_ state: Int32) -> Bool {
        if state == last.state { return last.answer }
        last = (state, admits(state, margin: 0))
        return last.answer
    }

    mutating func admits(_ state: Int32, margin: Int) -> Bool {
        let bytes = writer.fewestBytes(state) + margin
        guard let left else {
            result.safe = max(result.safe, bytes + 1)
            return true
        }
        if bytes < left { return true }
        if margin == 0, let plan = writer.plan(state, tokens), plan.count < left { return true }
        result.isLimited = true
        return false
    }

    // MARK: Walks

    /// Visits all tokens below a node whose bytes continue from a state.
    mutating func walk(_ nodes: TrieNodes, below root: Int, from state: Int32) {
        nodes.withView { walk($0, below: root, from: state) }
    }

    private mutating func walk(_ view: TrieNodes.View, below root: Int, from state: Int32) {
        let path = UnsafeMutablePointer<Int32>.allocate(capacity: tokens.longest + 2)
        defer { path.deallocate() }
        path[0] = state
        let nodes = view.nodes
        let base = Int(nodes[root].depth)
        var place = root + 1
        let end = Int(nodes[root].end)
        let ids = tokens.ids
        while place < end {
            let node = nodes + place
            let depth = Int(node.pointee.depth) &- base
            let before = path[depth &- 1]
            let after = writer.next(before, node.pointee.byte)
            let next = Int(node.pointee.end)
            guard after >= 0 else {
                place = next
                continue
            }
            let from = Int(node.pointee.first)
            if after == before, next &- place > 4, view.facts[place].classes & ~writer.loops(after) == 0 {
                if admits(after) { result.mask.insert(contentsOf: ids[from..<Int(nodes[next].first)]) }
                place = next
                continue
            }
            path[depth] = after
            let to = Int((node + 1).pointee.first)
            if from < to, admits(after) {
                for rank in from..<to { result.mask.insert(ids[rank]) }
            }
            place &+= 1
        }
    }
}
