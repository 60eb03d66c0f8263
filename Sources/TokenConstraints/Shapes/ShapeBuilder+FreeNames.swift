import JSONSchema
import Regex

/// The key of an automaton of names.
struct NameSignature: Hashable {
    let patterns: [ObjectIdentifier]
    /// For each schema its patterns' places, and whether what they lead to is false.
    let rules: [[Int]]
    let isClosed: Bool
    let spared: [String]
}

extension ShapeBuilder {
    /// The schemas of one object part that distinguish free names by patterns.
    private struct Sources {
        var patterns: [ECMARegex] = []
        var rules: [(patterns: [(place: Int, schema: SchemaID)], extra: SchemaID?)] = []

        func schemas(_ matched: [Int]) -> [AppliedSchema] {
            var all: [AppliedSchema] = []
            for rule in rules {
                let fitting = rule.patterns.filter { matched.contains($0.place) }
                all += fitting.map { AppliedSchema($0.schema) }
                if fitting.isEmpty, let extra = rule.extra { all.append(AppliedSchema(extra)) }
            }
            return all
        }
    }

    private func sources(_ part: ObjectPart) -> Sources {
        var sources = Sources()
        for source in part.sources {
            guard let object = schema[source].rules.object else { continue }
            var patterns: [(place: Int, schema: SchemaID)] = []
            for (pattern, schema) in object.patterns {
                var place = sources.patterns.firstIndex { $0 === pattern }
                if place == nil {
                    place = sources.patterns.count
                    sources.patterns.append(pattern)
                }
                patterns.append((place ?? 0, schema))
            }
            if !patterns.isEmpty || object.additional != nil {
                sources.rules.append((patterns, object.additional))
            }
        }
        return sources
    }

    /// - Parameters:
    ///   - isClosed: whether names must match a pattern.
    ///   - spared: no name begins with one of these: a small model that writes `nam` goes on to `name`, which is no free
    ///     one, and would have to go on to a name that nobody means.
    func freeNames(
        _ part: ObjectPart, _ unmasked: inout Set<KeywordPlace>, isClosed: Bool, sparing spared: [String] = []
    ) -> FreeDraft? {
        let sources = sources(part)
        if sources.patterns.isEmpty, isClosed || reader.normal(sources.schemas([])) == nil { return nil }
        func flag(_ id: SchemaID?) -> Int {
            id.map { reader.normal([AppliedSchema($0)]) == nil ? 1 : 2 } ?? 0
        }
        let signature = NameSignature(
            patterns: sources.patterns.map { ObjectIdentifier($0) },
            rules: sources.rules.map { rule in
                [flag(rule.extra)] + rule.patterns.flatMap { [$0.place, flag($0.schema)] }
            }, isClosed: isClosed, spared: spared)
        let rule = NameConditions(patterns: sources.patterns, spared: spared, effort: effort)
        let built: (text: NameText?, areTold: Bool, matched: [[Int]])
        if let known = names[signature] {
            built = known
        } else {
            var matched: [[Int]] = []
            let (text, areTold) = rule.build { set in
                let isPossible = !(isClosed && set.isEmpty) && reader.normal(sources.schemas(set)) != nil
                if isPossible, !matched.contains(set) { matched.append(set) }
                return isPossible
            }
            built = (text, areTold, matched)
            names[signature] = built
        }
        guard let text = built.text else { return nil }
        guard built.areTold else {
            for source in part.sources where !(schema[source].rules.object?.patterns.isEmpty ?? true) {
                unmasked.insert(KeywordPlace(node: source, keyword: "patternProperties"))
            }
            return FreeDraft(text, NameConditions(), [[]: target([], &unmasked)])
        }
        var targets: [[Int]: Int] = [:]
        for set in built.matched {
            guard let key = reader.normal(sources.schemas(set)) else { continue }
            targets[set] = target(key, &unmasked)
        }
        return targets.isEmpty ? nil : FreeDraft(text, rule, targets)
    }
}
