/// A pattern as a nondeterministic automaton whose branches are in order of preference.
struct PatternProgram {
    enum Instruction {
        /// Takes one scalar of `sets[set]`.
        case take(set: Int, next: Int)
        /// Goes on if the next scalar is in `sets[set]`, or at the end if so said.
        case check(set: Int, atEnd: Bool, next: Int)
        /// Tries each in turn.
        case branch([Int])
        case match
    }

    /// Bounds what a hostile file can ask for.
    static let sizeLimit = 1024
    /// Sets are members of a 64-bit mask.
    static let setLimit = 64
    static let rangeLimit = 256

    private(set) var instructions: [Instruction] = [.match]
    private(set) var sets: [ScalarSet] = []
    private(set) var start = 0
    private var indexOfSet: [ScalarSet: Int] = [:]

    init(_ node: PatternNode) throws {
        start = try compile(node, next: 0)
        guard sets.reduce(0, { $0 + $1.ranges.count }) <= Self.rangeLimit else {
            throw PatternError(message: "the pattern lists more than \(Self.rangeLimit) characters")
        }
    }

    private mutating func add(_ instruction: Instruction) throws -> Int {
        guard instructions.count < Self.sizeLimit else {
            throw PatternError(message: "the pattern is too large")
        }
        instructions.append(instruction)
        return instructions.count - 1
    }

    private mutating func index(of set: ScalarSet) throws -> Int {
        if let index = indexOfSet[set] { return index }
        guard sets.count < Self.setLimit else {
            throw PatternError(message: "the pattern has more than \(Self.setLimit) character classes")
        }
        sets.append(set)
        indexOfSet[set] = sets.count - 1
        return sets.count - 1
    }

    /// - Returns: where `node`, followed by `next`, begins.
    private mutating func compile(_ node: PatternNode, next: Int) throws -> Int {
        switch node {
        case .empty: return next
        case .set(let set): return try add(.take(set: try index(of: set), next: next))
        case .next(let set, let atEnd):
            return try add(.check(set: try index(of: set), atEnd: atEnd, next: next))
        case .sequence(let nodes):
            var next = next
            for node in nodes.reversed() { next = try compile(node, next: next) }
            return next
        case .alternatives(let nodes):
            var branches: [Int] = []
            for node in nodes { branches.append(try compile(node, next: next)) }
            return try add(.branch(branches))
        case .repetition(let node, let min, let max, let lazy):
            var next = next
            if let max {
                // x{0,2} is (x(x)?)?
                let end = next
                for _ in min..<max {
                    let body = try compile(node, next: next)
                    next = try add(.branch(lazy ? [end, body] : [body, end]))
                }
            } else {
                let loop = try add(.branch([]))
                let body = try compile(node, next: loop)
                instructions[loop] = .branch(lazy ? [next, body] : [body, next])
                next = loop
            }
            for _ in 0..<min { next = try compile(node, next: next) }
            return next
        }
    }
}
