import JSONSchema
import Regex

/// The key of an automaton of names.
struct NameSignature: Hashable {
    let patterns: [ObjectIdentifier]
    let conditions: StringPart
    /// For each schema, its patterns' indices, and whether their schemas are false.
    let rules: [[Int]]
    let isClosed: Bool
    let spared: [String]
}

extension ShapeBuilder {
    /// The schemas of one object part that distinguish free names by patterns.
    private struct Sources {
        var patterns: [ECMARegex] = []
        var rules: [(patterns: [(place: Int, schema: SchemaID)], extra: SchemaID?)] = []
        /// Patterns that can't be followed while a name is written: each may match or not.
        var leftOut: Set<Int> = []

        mutating func leave(out conditions: [TextCondition]) {
            for (place, pattern) in patterns.enumerated() where conditions.contains(.pattern(pattern.pattern))
            {
                leftOut.insert(place)
            }
        }

        func schemas(_ matched: [Int]) -> [AppliedSchema] {
            var all: [AppliedSchema] = []
            for rule in rules {
                let fitting = rule.patterns.filter { matched.contains($0.place) }
                all += fitting.map { AppliedSchema($0.schema) }
                guard fitting.isEmpty, !rule.patterns.contains(where: { leftOut.contains($0.place) }) else {
                    continue
                }
                if let extra = rule.extra { all.append(AppliedSchema(extra)) }
            }
            return all
        }
    }

    private func sources(_ part: ObjectPart) -> Sources {
        var sources = Sources()
        for source in part.sources {
            let rules = schema[source].rules
            guard let object = rules.object else { continue }
            var patterns: [(place: Int, schema: SchemaID)] = []
            for (pattern, schema) in object.patterns {
                var place = sources.patterns.firstIndex { $0 === pattern }
                if place == nil {
                    place = sources.patterns.count
                    sources.patterns.append(pattern)
                }
                patterns.append((place ?? 0, schema))
            }
            if !patterns.isEmpty || rules.extraMembers != nil {
                sources.rules.append((patterns, rules.extraMembers))
            }
        }
        return sources
    }

    /// - Parameters:
    ///   - isClosed: whether names must match a pattern.
    ///   - spared: no name begins with one of these: after `nam`, `name` may follow, which is no free name, and the
    ///     model would be forced to a meaningless one.
    func freeNames(
        _ part: ObjectPart, _ names: StringPart, _ unmasked: inout Set<KeywordPlace>, isClosed: Bool,
        sparing spared: [String] = []
    ) -> FreeDraft? {
        var sources = sources(part)
        if sources.patterns.isEmpty, isClosed || reader.normal(sources.schemas([])) == nil { return nil }
        func flag(_ id: SchemaID?) -> Int {
            id.map { reader.normal([AppliedSchema($0)]) == nil ? 1 : 2 } ?? 0
        }
        var conditions = names
        conditions.origins = []
        conditions.unmasked = []
        let signature = NameSignature(
            patterns: sources.patterns.map { ObjectIdentifier($0) }, conditions: conditions,
            rules: sources.rules.map { rule in
                [flag(rule.extra)] + rule.patterns.flatMap { [$0.place, flag($0.schema)] }
            }, isClosed: isClosed, spared: spared)
        var rule = NameConditions()
        rule.effort = effort
        rule.patterns = sources.patterns
        rule.conditions = conditions.conditions
        rule.conditions.forbiddenBeginnings = spared
        let built: (text: NameText?, unmasked: [TextCondition], matched: [[Int]])
        if let known = self.names[signature] {
            built = known
        } else {
            var matched: [[Int]] = []
            func build() -> (names: NameText?, unmasked: [TextCondition]) {
                matched = []
                return rule.build { set in
                    let isPossible =
                        (!isClosed || !set.isEmpty || !sources.leftOut.isEmpty)
                        && reader.normal(sources.schemas(set)) != nil
                    if isPossible, !matched.contains(set) { matched.append(set) }
                    return isPossible
                }
            }
            var (text, unmasked) = build()
            sources.leave(out: unmasked)
            if !sources.leftOut.isEmpty { (text, unmasked) = build() }
            built = (text, unmasked, matched)
            self.names[signature] = built
        }
        sources.leave(out: built.unmasked)
        for condition in built.unmasked {
            unmasked.formUnion(places(condition, part))
        }
        guard let text = built.text else { return nil }
        var targets: [[Int]: Int] = [:]
        for set in built.matched {
            guard let key = reader.normal(sources.schemas(set)) else { continue }
            targets[set] = target(key, &unmasked)
        }
        return targets.isEmpty ? nil : FreeDraft(text, rule, targets)
    }

    /// The keyword of a condition on names.
    private func places(_ condition: TextCondition, _ part: ObjectPart) -> Set<KeywordPlace> {
        if case .pattern(let pattern) = condition {
            let places = part.sources.filter { source in
                schema[source].rules.object?.patterns.contains { $0.pattern.pattern == pattern } ?? false
            }.map { KeywordPlace(node: $0, keyword: "patternProperties") }
            if !places.isEmpty { return Set(places) }
        }
        let nodes = part.names.isEmpty ? part.sources : part.names
        return Set(nodes.map { KeywordPlace(node: $0, keyword: "") })
    }
}
