import JSON
import JSONSchema

/// Finds the values that schemas allow, as far as writing can follow. The rest it allows, and names the keyword to
/// validate.
final class SchemaReader {
    let schema: Schema
    let effort: CompileEffort
    let others: OtherMembers
    /// Without other schemas that apply to the value; literals are not checked yet.
    private var known: [AppliedSchema: Alternatives] = [:]
    /// The alternatives of values to which all of these apply.
    private var expanded: [[AppliedSchema]: Alternatives] = [:]
    private var plain: [SchemaID: AppliedSchema?] = [:]
    var impossible: [[AppliedSchema]: Bool] = [:]
    var names: [NameQuestion: Bool] = [:]
    /// Keywords left to validation everywhere.
    var unmasked: Set<KeywordPlace> = []
    private var depth = 0
    /// Schemas in progress.
    private var open: Set<AppliedSchema> = []
    private var cuts = 0
    /// Pairs of parts compared.
    var pairs = 0
    var emptinessDepth = 0

    struct NameQuestion: Hashable {
        let name: ExactText
        let pattern: ObjectIdentifier
    }

    init(_ schema: Schema, _ effort: CompileEffort, _ others: OtherMembers) {
        (self.schema, self.effort, self.others) = (schema, effort, others)
    }

    // MARK: One schema

    func alternatives(_ applied: AppliedSchema) -> Alternatives {
        if let found = known[applied] { return found }
        effort.spend(32)
        if effort.isUsedUp { return .any }
        if emptinessDepth > 0, open.contains(applied) {
            // Its members led back here: the recursion ends, and results that depend on it are not stored.
            cuts += 1
            return .any
        }
        guard depth < ShapeLimits.depth, open.insert(applied).inserted else {
            return Alternatives.any.unmasking(KeywordPlace(node: applied.id, keyword: ""))
        }
        depth += 1
        let cutsBefore = cuts
        var found = applied.isNegated ? negative(applied.id) : positive(applied.id)
        if schema[applied.id].rules.isNullable {
            found.literals.removeAll { $0.value == .null }
            if !applied.isNegated { found.literals += Alternatives.null }
        }
        depth -= 1
        open.remove(applied)
        if cuts == cutsBefore { known[applied] = found }
        return found
    }

    func alternatives(_ id: SchemaID) -> Alternatives { alternatives(AppliedSchema(id)) }

    func both(_ a: Alternatives, _ b: Alternatives, orElse place: KeywordPlace) -> Alternatives {
        var more = a.numbers.count * b.numbers.count + a.strings.count * b.strings.count
        more += a.arrays.count * b.arrays.count + a.objects.count * b.objects.count
        pairs += more
        effort.spend(64 * more + a.literals.count + b.literals.count)
        let limit = pairs > ShapeLimits.allPairs ? 1 : ShapeLimits.pairs
        return a.and(b, limit: limit, orElse: place) { self.isPossible($0) }
    }

    // MARK: Several schemas

    /// Returns them sorted, without duplicates and without true schemas; nil if nothing can satisfy them.
    func normal(_ all: [AppliedSchema]) -> [AppliedSchema]? {
        var normal: [AppliedSchema] = []
        for applied in all {
            guard let target = target(applied.id) else {
                if applied.isNegated { return nil }
                continue
            }
            let node = schema[target.id]
            if let verdict = node.rules.verdict {
                if verdict == applied.isNegated { return nil }
                continue
            }
            normal.append(AppliedSchema(target.id, isNegated: applied.isNegated))
        }
        guard normal.count > 1 else { return normal }
        normal.sort()
        var last: AppliedSchema?
        var each: [AppliedSchema] = []
        for applied in normal where applied != last {
            if let last, last.id == applied.id { return nil }
            each.append(applied)
            last = applied
        }
        return each
    }

    /// The end of references that stand alone; nil if the schema is true.
    private func target(_ id: SchemaID) -> AppliedSchema? {
        if let found = plain[id] { return found }
        var end = id
        while let next = schema[end].rules.onlyReference { end = next }
        let found: AppliedSchema? = schema[end].rules.isEmpty ? nil : AppliedSchema(end)
        plain[id] = .some(found)
        return found
    }

    /// - Parameter key: as returned by `normal`.
    func expand(_ key: [AppliedSchema]) -> Alternatives {
        if let found = expanded[key] { return found }
        if effort.isUsedUp { return .any }
        var all = Alternatives.any
        let cutsBefore = cuts
        for applied in key {
            all = both(all, alternatives(applied), orElse: KeywordPlace(node: applied.id, keyword: ""))
        }
        all.literals = fitting(all.literals, key)
        if cuts == cutsBefore { expanded[key] = all }
        return all
    }

    private func fitting(_ literals: [Literal], _ key: [AppliedSchema]) -> [Literal] {
        let branches = key.reduce(1) { sum, applied in
            let combined = schema[applied.id].rules.combined
            return sum + (combined?.anyOf.count ?? 0) + (combined?.oneOf.count ?? 0)
                + (combined?.allOf.count ?? 0)
        }
        guard literals.count * branches <= ShapeLimits.literalBranches || branches == 1 else {
            for applied in key { unmasked.insert(KeywordPlace(node: applied.id, keyword: "")) }
            return literals
        }
        return literals.filter { fits($0.value, key) }
    }

    private func fits(_ value: JSONValue, _ key: [AppliedSchema]) -> Bool {
        key.allSatisfy { applied in
            if !applied.isNegated, schema[applied.id].rules.isPlainEnumeration { return true }
            if effort.isUsedUp { return true }
            return accepts(value, applied.id) != applied.isNegated
        }
    }

    func accepts(_ value: JSONValue, _ id: SchemaID) -> Bool {
        var steps = 0
        defer { effort.spend(16 * steps) }
        return schema.accepts(value, under: id, steps: &steps)
    }

    private(set) lazy var texts = TextBuilder(schema, effort)
}
