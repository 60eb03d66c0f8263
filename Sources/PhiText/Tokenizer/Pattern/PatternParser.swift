/// Syntax of a pattern.
indirect enum PatternNode: Sendable {
    case empty
    case set(ScalarSet)
    case sequence([PatternNode])
    /// The first alternative that leads to a match wins.
    case alternatives([PatternNode])
    case repetition(PatternNode, min: Int, max: Int?, lazy: Bool)
    /// Holds where the next scalar is in the set; at the end of the text as said.
    case next(ScalarSet, atEnd: Bool)
}

/// Why a pattern can't be used.
struct PatternError: Error, Equatable {
    var message: String
}

/// Reads the part of Oniguruma's (Ruby) syntax that tokenizers use. Everything else is an error, so that
/// no pattern is ever taken for something it does not mean.
struct PatternParser {
    private static let depthLimit = 32
    private static let countLimit = 256

    private let scalars: [Unicode.Scalar]
    private var i = 0
    private var depth = 0
    private var ignoresCase = false

    private init(_ pattern: String) { scalars = Array(pattern.unicodeScalars) }

    static func parse(_ pattern: String) throws -> PatternNode {
        var parser = PatternParser(pattern)
        let node = try parser.alternatives()
        guard parser.i == parser.scalars.count else { throw parser.unsupported("an unmatched ')'") }
        return node
    }

    private func unsupported(_ what: String) -> PatternError {
        PatternError(message: "\(what) at character \(i + 1) of the pattern is not supported")
    }

    private var current: Unicode.Scalar? { i < scalars.count ? scalars[i] : nil }

    private mutating func take(_ text: String) -> Bool {
        let wanted = Array(text.unicodeScalars)
        guard scalars[i...].starts(with: wanted) else { return false }
        i += wanted.count
        return true
    }

    private mutating func alternatives() throws -> PatternNode {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.depthLimit else { throw unsupported("nesting this deep") }
        var nodes = [try sequence()]
        while take("|") { nodes.append(try sequence()) }
        return nodes.count == 1 ? nodes[0] : .alternatives(nodes)
    }

    private mutating func sequence() throws -> PatternNode {
        var nodes: [PatternNode] = []
        while let scalar = current, scalar != "|", scalar != ")" {
            nodes.append(try quantified(try atom()))
        }
        return nodes.isEmpty ? .empty : nodes.count == 1 ? nodes[0] : .sequence(nodes)
    }

    // MARK: Repetition

    private mutating func quantified(_ node: PatternNode) throws -> PatternNode {
        let start = i
        guard let bounds = try quantifier() else { return node }
        let isCount = scalars[start] == "{"
        if case .next = node { throw unsupported("a repeated lookahead") }
        if (bounds.max ?? 2) > 1, node.canBeEmpty {
            throw unsupported("repeating something that can be empty")
        }
        var lazy = false
        if current == "?" {
            // Ruby gives {n}? a meaning of its own.
            if isCount { throw unsupported("'?' after a count") }
            lazy = true
            i += 1
        }
        if let next = current, next == "+" || next == "*" || next == "?" {
            throw unsupported("a possessive or double quantifier")
        }
        if current == "{", try quantifier() != nil { throw unsupported("a double quantifier") }
        return .repetition(node, min: bounds.min, max: bounds.max, lazy: lazy)
    }

    private mutating func quantifier() throws -> (min: Int, max: Int?)? {
        switch current {
        case "?":
            i += 1
            return (0, 1)
        case "*":
            i += 1
            return (0, nil)
        case "+":
            i += 1
            return (1, nil)
        case "{": return try counts()
        default: return nil
        }
    }

    /// `{n}`, `{n,}`, `{n,m}`, `{,m}`.
    private mutating func counts() throws -> (min: Int, max: Int?) {
        i += 1
        let low = try count()
        var high = low
        if take(",") { high = try count() } else if low == nil { throw unsupported("'{' without a number") }
        guard take("}"), low != nil || high != nil else { throw unsupported("'{' without a number") }
        if let high, high < (low ?? 0) { throw unsupported("a count that goes down") }
        return (low ?? 0, high)
    }

    private mutating func count() throws -> Int? {
        var value: Int?
        while let digit = current.flatMap({ $0.isASCII ? Character($0).wholeNumberValue : nil }) {
            value = (value ?? 0) * 10 + digit
            guard value ?? 0 <= Self.countLimit else { throw unsupported("a count above \(Self.countLimit)") }
            i += 1
        }
        return value
    }

    // MARK: Atoms

    private mutating func atom() throws -> PatternNode {
        guard let scalar = current else { return .empty }
        switch scalar {
        case "(": return try group()
        case "[": return .set(try characterClass())
        case ".":
            i += 1
            return .set(ScalarSet(ranges: [0x0A...0x0A], isNegated: true))
        case "\\":
            let set = try escape()
            return .set(try folded(set))
        case "^", "$", "*", "+", "?", "{", "}", "]":
            throw unsupported("'\(scalar)' here")
        default:
            i += 1
            return .set(try folded(.one(scalar.value)))
        }
    }

    private func folded(_ set: ScalarSet) throws -> ScalarSet {
        guard ignoresCase else { return set }
        guard let folded = set.ignoringCase else {
            throw unsupported("ignoring the case of other than ASCII letters")
        }
        return folded
    }

    private mutating func group() throws -> PatternNode {
        let outer = ignoresCase
        defer { ignoresCase = outer }
        if take("(?:") {
            return try rest { $0 }
        } else if take("(?i:") {
            ignoresCase = true
            return try rest { $0 }
        } else if take("(?!") || take("(?=") {
            let isNegative = scalars[i - 1] == "!"
            return try rest { node in
                guard case .set(let set) = node else { return nil }
                return .next(isNegative ? set.inverted : set, atEnd: isNegative)
            }
        } else if take("(?") {
            throw unsupported("this kind of group")
        }
        i += 1
        return try rest { $0 }
    }

    private mutating func rest(_ make: (PatternNode) -> PatternNode?) throws -> PatternNode {
        let node = try alternatives()
        guard take(")") else { throw unsupported("a group without ')'") }
        guard let made = make(node) else { throw unsupported("a lookahead at more than one character") }
        return made
    }

    /// One escape, from its backslash on.
    private mutating func escape() throws -> ScalarSet {
        i += 1
        guard let scalar = current else { throw unsupported("a backslash at the end") }
        i += 1
        switch scalar {
        case "r": return .one(0x0D)
        case "n": return .one(0x0A)
        case "t": return .one(0x09)
        case "f": return .one(0x0C)
        case "v": return .one(0x0B)
        case "s", "S":
            return ScalarSet(categories: UnicodeCategories.whiteSpace, isNegated: scalar == "S")
        case "d", "D":
            return ScalarSet(
                categories: UnicodeCategories.mask(named: "Nd") ?? 0, isNegated: scalar == "D")
        case "p", "P": return try property(isNegated: scalar == "P")
        case "x": return .one(try hex(digits: 2))
        case "u": return .one(try hex(digits: 4))
        default:
            guard scalar.isASCII, !scalar.properties.isAlphabetic, scalar.properties.numericType == nil
            else {
                i -= 1
                throw unsupported("the escape '\\\(scalar)'")
            }
            return .one(scalar.value)
        }
    }

    private mutating func property(isNegated: Bool) throws -> ScalarSet {
        guard take("{") else { throw unsupported("a property without '{'") }
        let isInverted = take("^")
        var name = ""
        while let scalar = current, scalar != "}", name.utf8.count < 64 {
            name.unicodeScalars.append(scalar)
            i += 1
        }
        guard take("}"), let mask = UnicodeCategories.mask(named: name) else {
            throw unsupported("the property '\(name)'")
        }
        return ScalarSet(categories: mask, isNegated: isNegated != isInverted)
    }

    private mutating func hex(digits: Int) throws -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<digits {
            guard let digit = current.flatMap({ $0.isASCII ? Character($0).hexDigitValue : nil }) else {
                throw unsupported("an escape without \(digits) hexadecimal digits")
            }
            value = value << 4 | UInt32(digit)
            i += 1
        }
        // In Oniguruma \x80 and above are raw bytes.
        guard digits > 2 || value < 0x80, Unicode.Scalar(value) != nil else {
            throw unsupported("this escape")
        }
        return value
    }

    // MARK: Character classes

    private mutating func characterClass() throws -> ScalarSet {
        i += 1
        var set = ScalarSet()
        let isNegated = take("^")
        guard current != "]" else { throw unsupported("an empty class") }
        while !take("]") {
            let item = try classItem()
            if current == "-", i + 1 < scalars.count, scalars[i + 1] != "]" {
                i += 1
                let end = try classItem()
                guard let low = item.single, let high = end.single, low <= high else {
                    throw unsupported("this range in a class")
                }
                set.ranges.append(low...high)
            } else if item.isNegated {
                // Only categories are ever negated inside of a class.
                set.categories |= ~item.categories & UnicodeCategories.all
            } else {
                set.categories |= item.categories
                set.ranges += item.ranges
            }
        }
        set = try folded(set)
        set.isNegated = isNegated
        return set
    }

    private mutating func classItem() throws -> ScalarSet {
        guard let scalar = current else { throw unsupported("a class without ']'") }
        switch scalar {
        case "\\": return try escape()
        case "[": throw unsupported("a class inside of a class")
        case "&" where i + 1 < scalars.count && scalars[i + 1] == "&":
            throw unsupported("an intersection of classes")
        default:
            i += 1
            return .one(scalar.value)
        }
    }
}

extension ScalarSet {
    /// The only member, if the set was written as one scalar.
    fileprivate var single: UInt32? {
        guard categories == 0, !isNegated, ranges.count == 1, ranges[0].count == 1 else { return nil }
        return ranges[0].lowerBound
    }
}

extension PatternNode {
    /// Whether it can match without taking a character.
    var canBeEmpty: Bool {
        switch self {
        case .empty, .next: true
        case .set: false
        case .sequence(let nodes): nodes.allSatisfy(\.canBeEmpty)
        case .alternatives(let nodes): nodes.contains(where: \.canBeEmpty)
        case .repetition(let node, let min, _, _): min == 0 || node.canBeEmpty
        }
    }
}
