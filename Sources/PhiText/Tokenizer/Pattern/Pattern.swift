/// A regular expression as a finite automaton: matching takes one table look-up a character, and no
/// text makes it slower than linear.
///
/// It finds what a backtracking matcher finds: the leftmost match, of several the one that the order of
/// alternatives and the greediness of quantifiers prefer. To that end a state is the ordered list of
/// the places in the pattern that are still in play (as in Pike's and RE2's matchers); a match drops all
/// places after it. A lookahead is settled when the next character is known, so whether a match ends
/// before a character is noted in the transition on that character.
struct Pattern: Sendable {
    /// Bounds the time and memory a hostile file can ask for.
    private static let stateLimit = 2048
    private static let workLimit = 20_000_000

    let classes: ScalarClasses
    /// `table[state + class]`: the next state (already multiplied by the row length) shifted left by one,
    /// with a low bit if a match ends before this character. State 0 is dead. The last class of a row is
    /// the end of the text.
    let table: FrozenArray<UInt32>
    let start: UInt32
    let endClass: Int

    /// - Throws: `PatternError` for what is not supported, also a pattern that can match nothing at all
    ///   (then splitting by it is not defined).
    init(_ source: String) throws {
        try self.init(try PatternParser.parse(source))
    }

    /// A pattern that matches one fixed text.
    init(literal: String) throws {
        try self.init(.sequence(literal.unicodeScalars.map { .set(.one($0.value)) }))
    }

    private init(_ node: PatternNode) throws {
        guard !node.canBeEmpty else {
            throw PatternError(message: "a pattern that can match the empty text is not supported")
        }
        let program = try PatternProgram(node)
        classes = try ScalarClasses(program.sets)
        var builder = Builder(program: program, classes: classes)
        start = try builder.build()
        table = FrozenArray(builder.table)
        endClass = classes.members.count
    }

    /// Works out all states at once: the patterns of tokenizers have a few dozen.
    private struct Builder {
        let program: PatternProgram
        let classes: ScalarClasses
        var table: [UInt32] = []
        private var states: [[Int]] = []
        private var indexOfState: [[Int]: Int] = [:]
        private var seen: [Int]
        private var mark = 0
        private var work = 0

        init(program: PatternProgram, classes: ScalarClasses) {
            self.program = program
            self.classes = classes
            seen = [Int](repeating: 0, count: program.instructions.count)
        }

        mutating func build() throws -> UInt32 {
            let width = classes.members.count + 1
            _ = try index(of: [])
            mark += 1
            var first: [Int] = []
            _ = follow(program.start, into: &first)
            let start = try index(of: first)
            var state = 0
            while state < states.count {
                for cls in 0..<width {
                    let (next, matched) = advance(states[state], cls)
                    table.append(UInt32(try index(of: next) * width) << 1 | (matched ? 1 : 0))
                }
                guard work < Pattern.workLimit else {
                    throw PatternError(message: "the pattern is too large")
                }
                state += 1
            }
            return UInt32(start * width)
        }

        private mutating func index(of state: [Int]) throws -> Int {
            if let index = indexOfState[state] { return index }
            guard states.count < Pattern.stateLimit else {
                throw PatternError(message: "the pattern is too large")
            }
            indexOfState[state] = states.count
            states.append(state)
            return states.count - 1
        }

        /// Adds the places reachable from `i` without taking a character, most preferred first.
        /// - Returns: true if a match was among them; what is less preferred does not count any more.
        private mutating func follow(_ i: Int, into places: inout [Int]) -> Bool {
            var stack = [i]
            while let i = stack.popLast() {
                work += 1
                guard seen[i] != mark else { continue }
                seen[i] = mark
                switch program.instructions[i] {
                case .branch(let branches): stack += branches.reversed()
                case .take, .check: places.append(i)
                case .match:
                    places.append(i)
                    return true
                }
            }
            return false
        }

        /// Returns the next state of a state on a class of characters (or the end).
        private mutating func advance(_ state: [Int], _ cls: Int) -> (next: [Int], matched: Bool) {
            let isEnd = cls == classes.members.count
            let members = isEnd ? 0 : classes.members[cls]
            // First settle the lookaheads, now that the next character is known.
            mark += 1
            var places: [Int] = []
            var matched = false
            var stack = Array(state.reversed())
            while let i = stack.popLast() {
                work += 1
                guard seen[i] != mark else { continue }
                seen[i] = mark
                switch program.instructions[i] {
                case .take: places.append(i)
                case .branch(let branches): stack += branches.reversed()
                case .check(let set, let atEnd, let next):
                    if isEnd ? atEnd : members >> UInt64(set) & 1 == 1 { stack.append(next) }
                case .match: matched = true
                }
                if matched { break }
            }
            // Then take the character.
            mark += 1
            var next: [Int] = []
            for i in places {
                if case .take(let set, let target) = program.instructions[i],
                    members >> UInt64(set) & 1 == 1, follow(target, into: &next)
                {
                    break
                }
            }
            return (next, matched)
        }
    }
}
