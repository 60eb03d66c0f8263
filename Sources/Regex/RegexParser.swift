/// Parses the regular part of a dialect's expressions. Everything else is refused, so that no pattern is misunderstood.
package struct RegexParser {
    private let scalars: [Unicode.Scalar]
    let dialect: RegexDialect
    /// For checking only (format "regex"): also accepts what is not regular, as if it were empty.
    let takesAll: Bool
    private let dot: ScalarSet
    private var ignoresCase = false
    var i = 0
    private var depth = 0
    /// Whether only `^` and lookaheads have come so far.
    private var isAtStart = true
    private var ahead: [(node: RegexNode, isNegated: Bool)] = []

    private init(_ pattern: String, _ dialect: RegexDialect, takesAll: Bool) {
        scalars = Array(pattern.unicodeScalars)
        self.dialect = dialect
        self.takesAll = takesAll
        dot = dialect == .ecma ? ScalarSet.lineEnd.inverted : ScalarSet.one(0x0A).inverted
    }

    /// Parses a pattern without lookaheads at its beginning.
    /// - Throws: `ConstraintFault` with the place.
    package static func parse(
        _ pattern: String, _ dialect: RegexDialect = .ecma
    ) throws(ConstraintFault) -> RegexNode {
        let pattern = try parse(pattern, dialect, takesAll: false)
        guard pattern.ahead.isEmpty else { throw lookaround(at: 0) }
        return pattern.node
    }

    /// - Parameter isWhole: whether it begins where the text does, with or without `^`.
    static func parse(_ pattern: String, isWhole: Bool) throws(ConstraintFault) -> RegexPattern {
        let pattern = try parse(pattern, .ecma, takesAll: false)
        guard pattern.ahead.isEmpty || isWhole || pattern.node.beginsWithStart else {
            throw lookaround(at: 0)
        }
        return pattern
    }

    private static func lookaround(at offset: Int?) -> ConstraintFault {
        ConstraintFault(
            .unsupportedPattern,
            "a lookbehind, or a lookahead elsewhere than at the beginning of a pattern with ^,",
            at: offset)
    }

    /// Whether ECMA-262 allows the pattern, supported or not.
    package static func isWellFormed(_ pattern: String) -> Bool {
        do throws(ConstraintFault) {
            _ = try parse(pattern, .ecma, takesAll: true)
            return true
        } catch {
            return error.kind != .malformed
        }
    }

    private static func parse(
        _ pattern: String, _ dialect: RegexDialect, takesAll: Bool
    ) throws(ConstraintFault) -> RegexPattern {
        var parser = RegexParser(pattern, dialect, takesAll: takesAll)
        guard parser.scalars.count <= RegexLimits.length else {
            throw ConstraintFault(.tooLarge, "a pattern of more than \(RegexLimits.length) characters")
        }
        let node = try parser.alternatives()
        guard parser.current == nil else { throw parser.malformed("a ')' that closes nothing") }
        if case .alternatives = node, !parser.ahead.isEmpty { throw lookaround(at: 0) }
        return RegexPattern(node: node, ahead: parser.ahead)
    }

    // MARK: Helpers

    var current: Unicode.Scalar? { i < scalars.count ? scalars[i] : nil }

    func peek(_ distance: Int) -> Unicode.Scalar? {
        i + distance < scalars.count ? scalars[i + distance] : nil
    }

    mutating func take(_ text: String) -> Bool {
        guard scalars[i...].starts(with: text.unicodeScalars) else { return false }
        i += text.unicodeScalars.count
        return true
    }

    mutating func skip(while isSkipped: (Unicode.Scalar) -> Bool) {
        while let scalar = current, isSkipped(scalar) { i += 1 }
    }

    func malformed(_ what: String, at offset: Int? = nil) -> ConstraintFault {
        ConstraintFault(.malformed, what, at: offset ?? i)
    }

    func unsupported(_ what: String, at offset: Int? = nil) -> ConstraintFault {
        ConstraintFault(.unsupportedPattern, what, at: offset ?? i)
    }

    // MARK: Structure

    private mutating func alternatives() throws(ConstraintFault) -> RegexNode {
        depth += 1
        defer { depth -= 1 }
        guard depth <= RegexLimits.depth else {
            throw ConstraintFault(.tooLarge, "more than \(RegexLimits.depth) groups in groups", at: i)
        }
        var nodes = [try sequence()]
        while take("|") { nodes.append(try sequence()) }
        return nodes.count == 1 ? nodes[0] : .alternatives(nodes)
    }

    private mutating func sequence() throws(ConstraintFault) -> RegexNode {
        var nodes: [RegexNode] = []
        while let scalar = current, scalar != "|", scalar != ")" {
            let isGroup = scalar == "("
            let node = try quantified(try atom(), isGroup: isGroup)
            if node != .empty { nodes.append(node) }
            if node != .empty, node != .assertion(.textStart) { isAtStart = false }
        }
        return nodes.count == 1 ? nodes[0] : .sequence(nodes)
    }

    private mutating func atom() throws(ConstraintFault) -> RegexNode {
        guard let scalar = current else { return .empty }
        let start = i
        if dialect == .tokenizer, "^$}]".unicodeScalars.contains(scalar) {
            throw unsupported("a '\(scalar)' that is not escaped")
        }
        switch scalar {
        case "(": return try group()
        case "[": return .set(try characterClass())
        case "^":
            i += 1
            return .assertion(.textStart)
        case "$":
            i += 1
            return .assertion(.textEnd)
        case ".":
            i += 1
            return .set(dot)
        case "*", "+", "?": throw malformed("a '\(scalar)' that repeats nothing")
        case "\\": return try escape()
        case "{" where try counts() != nil: throw malformed("a count that repeats nothing", at: start)
        case "{" where dialect == .tokenizer: throw unsupported("a '{' without a count")
        default:
            i += 1
            return .set(try folded(.one(scalar.value)))
        }
    }

    /// Returns the set in both cases if case is ignored.
    func folded(_ set: ScalarSet) throws(ConstraintFault) -> ScalarSet {
        guard ignoresCase else { return set }
        guard let folded = set.ignoringCase else {
            throw unsupported("ignoring the case of other than ASCII letters")
        }
        return folded
    }

    private mutating func group() throws(ConstraintFault) -> RegexNode {
        let start = i
        let outer = ignoresCase
        defer { ignoresCase = outer }
        if take("(?=") || take("(?!") || dialect == .ecma && (take("(?<=") || take("(?<!")) {
            return try lookaround(start)
        }
        if dialect == .tokenizer, take("(?i:") {
            ignoresCase = true
        } else if dialect == .ecma, take("(?<") {
            let name = i
            skip { $0 == "_" || $0 == "$" || $0.properties.isIDContinue }
            guard i > name, take(">") else { throw malformed("a group's name without '>'") }
        } else if !take("(?:"), take("(?") {
            throw malformed("a '(?' of another kind than '(?:', '(?<name>' and lookaround", at: start)
        } else if i == start {
            i += 1
        }
        return try rest(start)
    }

    /// Parses the rest of a lookahead or lookbehind.
    private mutating func lookaround(_ start: Int) throws(ConstraintFault) -> RegexNode {
        let isNegated = scalars[i - 1] == "!"
        guard dialect == .ecma else {
            guard case .set(let set) = try rest(start) else {
                throw unsupported("a lookahead at more than one character", at: start)
            }
            return .assertion(.next(isNegated ? set.inverted : set, atEnd: isNegated))
        }
        let isUsable = isAtStart && depth == 1 && i == start + 3
        guard takesAll || isUsable else { throw Self.lookaround(at: start) }
        let node = try rest(start)
        isAtStart = isUsable
        guard !takesAll else { return .empty }
        if let next = current, "?*+{".unicodeScalars.contains(next) {
            throw malformed("a repeated lookahead")
        }
        ahead.append((.sequence([.assertion(.textStart), node]), isNegated))
        return .empty
    }

    private mutating func rest(_ start: Int) throws(ConstraintFault) -> RegexNode {
        let node = try alternatives()
        guard take(")") else { throw malformed("a group without ')'", at: start) }
        return node
    }

    // MARK: Repetition

    private mutating func quantified(_ node: RegexNode, isGroup: Bool) throws(ConstraintFault) -> RegexNode {
        let bounds: (min: Int, max: Int?)
        switch current {
        case "?": (bounds, i) = ((0, 1), i + 1)
        case "*": (bounds, i) = ((0, nil), i + 1)
        case "+": (bounds, i) = ((1, nil), i + 1)
        case "{":
            guard let counts = try counts() else { return node }
            bounds = counts
        default: return node
        }
        if case .assertion = node, !isGroup || dialect == .tokenizer {
            throw malformed("a repeated '^', '$', '\\b' or lookahead", at: i - 1)
        }
        let isCount = scalars[i - 1] == "}"
        var isLazy = take("?")
        if dialect == .ecma {
            isLazy = false
        } else if isLazy && isCount {
            // Ruby gives {n}? another meaning.
            throw unsupported("a '?' after a count", at: i - 1)
        } else if bounds.max ?? 2 > 1, node.canBeEmpty {
            throw unsupported("a repetition of what can be empty", at: i - 1)
        }
        let end = i
        switch current {
        case "?", "*", "+": throw malformed("a repetition of a repetition")
        case "{" where try counts() != nil: throw malformed("a repetition of a repetition", at: end)
        default: break
        }
        return node == .empty
            ? .empty : .repetition(node, min: bounds.min, max: bounds.max, isLazy: isLazy)
    }

    /// Parses `{n}`, `{n,}`, `{n,m}`, for tokenizers also `{,m}`; nil, without moving, for anything else, which is
    /// literal in ECMA-262 (annex B).
    private mutating func counts() throws(ConstraintFault) -> (min: Int, max: Int?)? {
        let start = i
        i += 1
        let low = try number()
        var high = low
        if low != nil || dialect == .tokenizer, take(",") { high = try number() }
        guard take("}"), low != nil || dialect == .tokenizer && high != nil else {
            i = start
            return nil
        }
        if let high, high < low ?? 0 { throw malformed("a count that goes down", at: start) }
        return (low ?? 0, high)
    }

    private mutating func number() throws(ConstraintFault) -> Int? {
        var value: Int?
        while let digit = current, "0"..."9" ~= digit {
            value = (value ?? 0) * 10 + Int(digit.value - 0x30)
            guard value ?? 0 <= RegexLimits.states else {
                throw ConstraintFault(.tooLarge, "a count above \(RegexLimits.states)", at: i)
            }
            i += 1
        }
        return value
    }
}

extension RegexNode {
    /// Whether it matches only at the beginning of a text.
    fileprivate var beginsWithStart: Bool {
        if case .sequence(let nodes) = self {
            nodes.first == .assertion(.textStart)
        } else {
            self == .assertion(.textStart)
        }
    }
}
