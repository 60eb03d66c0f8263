import Regex

@testable import TokenConstraints

/// All texts of a grammar up to a length, found by trying everything: slow, and plainly right.
struct SlowGrammar {
    typealias Texts = Set<[UInt8]>

    /// In ASCII.
    let texts: Texts
    /// What texts begin with.
    let beginnings: Texts
    let most: Int

    init(_ source: GrammarSource, upTo most: Int) {
        self.most = most
        var known = [Texts](repeating: [], count: source.rules.count)
        var isChanged = true
        while isChanged {
            isChanged = false
            for (rule, definition) in source.rules.enumerated() {
                let texts = Self.texts(definition.body, known, most)
                if texts.count > known[rule].count {
                    known[rule] = texts
                    isChanged = true
                }
            }
        }
        texts = known[source.start]
        beginnings = Set(texts.flatMap { text in (0...text.count).map { Array(text[..<$0]) } })
    }

    private static func texts(_ node: GrammarNode, _ known: [Texts], _ most: Int) -> Texts {
        switch node {
        case .regular(let regex): texts(regex, most)
        case .rule(let rule): known[rule]
        case .sequence(let nodes): nodes.reduce([[]]) { joined($0, texts($1, known, most), most) }
        case .alternatives(let nodes): nodes.reduce([]) { $0.union(texts($1, known, most)) }
        case .repetition(let node, let min, let max): repeated(texts(node, known, most), min, max, most)
        }
    }

    private static func texts(_ node: RegexNode, _ most: Int) -> Texts {
        switch node {
        case .assertion: [[]]
        case .set(let set): Set((UInt8.min..<0x80).filter { set.contains(UInt32($0)) }.map { [$0] })
        case .sequence(let nodes): nodes.reduce([[]]) { joined($0, texts($1, most), most) }
        case .alternatives(let nodes): nodes.reduce([]) { $0.union(texts($1, most)) }
        case .repetition(let node, let min, let max, _): repeated(texts(node, most), min, max, most)
        }
    }

    private static func joined(_ a: Texts, _ b: Texts, _ most: Int) -> Texts {
        Set(a.flatMap { first in b.filter { first.count + $0.count <= most }.map { first + $0 } })
    }

    private static func repeated(_ one: Texts, _ min: Int, _ max: Int?, _ most: Int) -> Texts {
        var last: Texts = [[]]
        for _ in 0..<min { last = joined(last, one, most) }
        var all = last
        var count = min
        while count < max ?? .max {
            last = joined(last, one, most)
            count += 1
            let before = all.count
            all.formUnion(last)
            if all.count == before { break }
        }
        return all
    }
}

extension Pushdown {
    convenience init(_ source: GrammarSource) throws(ConstraintFault) {
        self.init(try ProductionBuilder.productions(of: source, CompileEffort()))
    }

    /// - Returns: -1 if no text of the grammar begins so.
    func state(after text: some Sequence<UInt8>) -> Int32 {
        var state = start
        for byte in text where state >= 0 { state = next(state, byte) }
        return state
    }

    func takes(_ text: String) -> Bool {
        let state = state(after: text.utf8)
        return state >= 0 && isFinal(state)
    }
}

/// All texts of these bytes up to a length.
func allTexts(of bytes: String, upTo most: Int) -> [[UInt8]] {
    var all: [[UInt8]] = [[]]
    var last = all
    for _ in 0..<most {
        last = last.flatMap { text in bytes.utf8.map { text + [$0] } }
        all += last
    }
    return all
}
