import JSONSchema

/// The reason why no value obeys a schema.
extension ShapeBuilder {
    /// - Parameter target: one without a complete value.
    func reason(_ target: Int) -> ConstraintFault {
        var seen: Set<Int> = []
        var target = target
        // Down to a required part that is impossible.
        while seen.insert(target).inserted {
            if let excess = drafts[target].shapes.lazy.compactMap(\.excess).first {
                return ConstraintFault(.tooLarge, at: places(drafts[target].key).first, excess)
            }
            guard let next = blocked(target) else { break }
            target = next
        }
        if let fault = contradiction(drafts[target].key) { return fault }
        let (first, others) = places(drafts[target].key)
        var problem = "no value obeys this schema"
        if blocked(target) != nil { problem = "this schema requires itself within itself without end" }
        if !others.isEmpty { problem += " together with \(others.joined(separator: " and "))" }
        return ConstraintFault(.unsatisfiable, at: first, problem)
    }

    private func places(_ key: [AppliedSchema]) -> (first: String, others: [String]) {
        let all = key.map { ($0.isNegated ? "the contrary of " : "") + schema[$0.id].pointer }
        return (key.first.map { schema[$0.id].pointer } ?? "#", Array(all.dropFirst().prefix(3)))
    }

    /// A target that each value of the target's only shapes needs.
    private func blocked(_ target: Int) -> Int? {
        for shape in drafts[target].shapes {
            switch shape.kind {
            case .text, .string: continue
            case .array(let array):
                let needed = array.prefix.prefix(array.minCount) + [array.rest].compactMap { $0 }
                if array.minCount > 0, let next = needed.first(where: { drafts[$0].fewestBytes == nil }) {
                    return next
                }
            case .object(let object):
                let needed = object.members.filter(\.isRequired).map(\.target)
                if let next = needed.first(where: { drafts[$0].fewestBytes == nil }) { return next }
            }
        }
        return nil
    }

    /// A required member or item that is impossible.
    private func contradiction(_ key: [AppliedSchema]) -> ConstraintFault? {
        for part in reader.expand(key).objects {
            for name in part.required {
                let applied = reader.memberSchemas(part, name)
                guard part.absent.contains(name) || reader.normal(applied) == nil else { continue }
                let pointers = applied.map { schema[$0.id].pointer }
                let isFalse = applied.first { reader.normal([$0]) == nil }
                return ConstraintFault(
                    .unsatisfiable,
                    at: isFalse.map { schema[$0.id].pointer } ?? pointers.first ?? places(key).first,
                    "the property \(name.text.debugDescription) is required, but can't have any value")
            }
        }
        return nil
    }
}
