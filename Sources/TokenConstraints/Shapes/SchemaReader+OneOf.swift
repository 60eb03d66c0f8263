import JSONSchema

/// `oneOf`: each branch without values that another one accepts.
extension SchemaReader {
    func one(of branches: [SchemaID], _ id: SchemaID, beside all: Alternatives) -> Alternatives {
        let place = KeywordPlace(node: id, keyword: "oneOf")
        let parts = branches.map { alternatives($0) }
        if branches.count < 2 { return .union(parts) }
        guard branches.count * (branches.count - 1) / 2 <= ShapeLimits.branchPairs else {
            return .union(parts.map { $0.hasParts ? $0.unmasking(place) : $0 })
        }
        // Keywords beside `oneOf` often separate the branches: above all `required`.
        let beside = parts.map { both(all, $0, orElse: place) }
        var overlaps = [[Int]](repeating: [], count: parts.count)
        for i in parts.indices where parts[i].hasParts {
            overlaps[i] = parts.indices.filter {
                $0 != i && parts[$0].literals.contains(where: parts[i].hasPart)
            }
        }
        for i in parts.indices where beside[i].hasParts {
            for j in parts.indices.dropFirst(i + 1) where beside[j].hasParts {
                guard beside[i].sharesParts(with: beside[j]) else { continue }
                guard mayOverlap(beside[i], parts[j]) else { continue }
                overlaps[i].addMissing([j])
                overlaps[j].addMissing([i])
            }
        }
        var terms: [Alternatives] = []
        for i in parts.indices {
            var term = parts[i]
            for j in overlaps[i] {
                let other = alternatives(AppliedSchema(branches[j], isNegated: true)).blaming(place)
                var less = both(term, other, orElse: place)
                less.literals = term.literals
                term = less
            }
            terms.append(term)
        }
        return .union(terms)
    }
}
