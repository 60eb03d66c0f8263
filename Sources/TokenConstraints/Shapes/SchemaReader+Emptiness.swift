import JSONSchema

/// Finds contradictions between shapes early.
extension SchemaReader {
    /// Whether some value may satisfy them; a check, not a proof.
    func isPossible(_ key: [AppliedSchema]) -> Bool {
        if key.isEmpty { return true }
        if let found = impossible[key] { return !found }
        guard emptinessDepth < ShapeLimits.emptinessDepth else { return true }
        emptinessDepth += 1
        defer { emptinessDepth -= 1 }
        impossible[key] = false
        let isImpossible = !isPossible(expand(key))
        impossible[key] = isImpossible
        return !isImpossible
    }

    /// Literals count without a check.
    func isPossible(_ all: Alternatives) -> Bool {
        !all.literals.isEmpty || !all.numbers.isEmpty || all.strings.contains { self.isPossible($0) }
            || !all.arrays.isEmpty || all.objects.contains { self.isPossible($0) }
    }

    /// Whether some value may be both, literals apart. Ends at the first such pair.
    func mayOverlap(_ a: Alternatives, _ b: Alternatives) -> Bool {
        anyPair(a.numbers, b.numbers) { _ in true } || anyPair(a.strings, b.strings) { self.isPossible($0) }
            || anyPair(a.arrays, b.arrays) { _ in true }
            || anyPair(a.objects, b.objects) { self.isPossible($0) }
    }

    private func anyPair<Part: ValuePart>(_ a: [Part], _ b: [Part], _ isPossible: (Part) -> Bool) -> Bool {
        for one in a {
            for other in b {
                pairs += 1
                effort.spend(64)
                if pairs > ShapeLimits.allPairs || effort.isUsedUp { return true }
                if let both = one.and(other), isPossible(both) { return true }
            }
        }
        return false
    }

    private func isPossible(_ part: StringPart) -> Bool {
        guard part.patterns.count + part.formats.count > 1 || !part.forbidden.isEmpty else { return true }
        return texts.string(part).text != nil
    }

    func isPossible(_ part: ObjectPart) -> Bool {
        for name in part.required {
            guard let key = normal(memberSchemas(part, name)), isPossible(key) else { return false }
        }
        return true
    }
}

extension SchemaRules {
    /// Whether there are no keywords but references, constants and enumerations.
    private var hasFewKinds: Bool {
        verdict == nil && !isNullable && types == nil && number == nil && string == nil && array == nil
            && object == nil && combined == nil
    }

    private var hasOnlyReferences: Bool { hasFewKinds && constant == nil && enumeration == nil }

    var isEmpty: Bool { hasOnlyReferences && reference == nil }

    /// The target of a `$ref` that stands alone.
    var onlyReference: SchemaID? { hasOnlyReferences ? reference : nil }

    var isPlainEnumeration: Bool {
        hasFewKinds && (constant == nil) != (enumeration == nil) && reference == nil
    }
}
