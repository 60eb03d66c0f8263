import JSON
import JSONSchema

/// The values that a schema accepts.
extension SchemaReader {
    func positive(_ id: SchemaID) -> Alternatives {
        let rules = schema[id].rules
        if let verdict = rules.verdict { return verdict ? .any : .none }
        var all = own(id, rules)
        func add(_ other: Alternatives, _ keyword: String) {
            all = both(all, other, orElse: KeywordPlace(node: id, keyword: keyword))
        }
        if let reference = rules.reference { add(alternatives(reference), "$ref") }
        guard rules.combined != nil || rules.object != nil else { return all }
        for part in rules.combined?.allOf ?? [] { add(alternatives(part), "allOf") }
        for (name, needed, keyword) in rules.object?.dependentRequired ?? [] {
            add(without(name).or(having([name] + needed)), keyword)
        }
        for (name, target, keyword) in rules.object?.dependentSchemas ?? [] {
            let place = KeywordPlace(node: id, keyword: keyword)
            add(without(name).or(both(having([name]), alternatives(target), orElse: place)), keyword)
        }
        guard let combined = rules.combined else { return all }
        if let condition = combined.condition, combined.then != nil || combined.otherwise != nil {
            let place = KeywordPlace(node: id, keyword: "if")
            var yes = alternatives(condition)
            if let then = combined.then { yes = both(yes, alternatives(then), orElse: place) }
            var no = alternatives(AppliedSchema(condition, isNegated: true)).blaming(place)
            if let otherwise = combined.otherwise { no = both(no, alternatives(otherwise), orElse: place) }
            add(yes.or(no), "if")
        }
        if let not = combined.not {
            let place = KeywordPlace(node: id, keyword: "not")
            add(alternatives(AppliedSchema(not, isNegated: true)).blaming(place), "not")
        }
        if !combined.anyOf.isEmpty { add(.union(combined.anyOf.map { alternatives($0) }), "anyOf") }
        if !combined.oneOf.isEmpty { add(one(of: combined.oneOf, id, beside: all), "oneOf") }
        return all
    }

    /// `oneOf`: each branch without values that another one accepts.
    private func one(of branches: [SchemaID], _ id: SchemaID, beside all: Alternatives) -> Alternatives {
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

    /// Keywords other than those that apply further schemas to the same value.
    private func own(_ id: SchemaID, _ rules: SchemaRules) -> Alternatives {
        if rules.constant != nil || rules.enumeration != nil {
            var seen: Set<Literal> = []
            var all = Alternatives()
            all.literals = (rules.constant ?? rules.enumeration)?.values.compactMap { Literal($0) } ?? []
            if rules.constant != nil, let enumeration = rules.enumeration {
                all.literals = all.literals.filter { enumeration.contains($0.key) }
            }
            all.literals = all.literals.filter { seen.insert($0).inserted }
            return all
        }
        let types = rules.types
        func has(_ type: JSONTypes) -> Bool { types?.isSuperset(of: type) ?? true }
        var all = Alternatives()
        if has(.null) { all.literals += Alternatives.null }
        if has(.boolean) { all.literals += Alternatives.booleans }
        if has(.integer) {
            var part = rules.number.map { numberPart(id, $0) } ?? NumberPart()
            part.isInteger = !has(.number)
            all.numbers = [part]
        }
        if has(.string) { all.strings = [rules.string.map { stringPart(id, $0) } ?? StringPart()] }
        if has(.array) { all.arrays = [rules.array.map { arrayPart(id, $0) } ?? ArrayPart()] }
        if has(.object) { all.objects = [rules.object.map { objectPart(id, $0) } ?? ObjectPart()] }
        all.numbers = all.numbers.compactMap { $0.and(NumberPart()) }
        all.strings = all.strings.compactMap { $0.and(StringPart()) }
        all.arrays = all.arrays.compactMap { $0.and(ArrayPart()) }
        all.objects = all.objects.compactMap { $0.and(ObjectPart()) }
        return all
    }

    private func numberPart(_ id: SchemaID, _ rules: Shared<NumberRules>) -> NumberPart {
        var part = NumberPart()
        part.conditions = NumberConditions(
            minimum: rules.minimum, exclusiveMinimum: rules.exclusiveMinimum, maximum: rules.maximum,
            exclusiveMaximum: rules.exclusiveMaximum, multiples: rules.multipleOf.map { [$0] } ?? [])
        if part != NumberPart() { part.origins = [id] }
        return part
    }

    private func stringPart(_ id: SchemaID, _ rules: Shared<StringRules>) -> StringPart {
        var part = StringPart()
        part.minLength = rules.minLength
        part.maxLength = rules.maxLength
        part.patterns = rules.pattern.map { [$0] } ?? []
        // An unknown format asserts nothing.
        if let format = rules.format, Formats.names.contains(format) { part.formats = [format] }
        if part != StringPart() { part.origins = [id] }
        return part
    }

    private func arrayPart(_ id: SchemaID, _ rules: Shared<ArrayRules>) -> ArrayPart {
        var part = ArrayPart()
        part.minCount = rules.minItems
        part.maxCount = rules.maxItems
        if rules.isUnique, rules.maxItems ?? .max > 1 {
            part.unmasked.insert(KeywordPlace(node: id, keyword: "uniqueItems"))
        }
        if rules.contains != nil, rules.minContains > 0 || rules.maxContains != nil {
            part.minCount = max(part.minCount, rules.minContains)
            part.unmasked.insert(KeywordPlace(node: id, keyword: "contains"))
        }
        if !rules.prefix.isEmpty || rules.rest != nil { part.sources = [id] }
        if rules.unevaluated != nil, rules.rest == nil {
            part.unmasked.insert(KeywordPlace(node: id, keyword: "unevaluatedItems"))
        }
        return part
    }

    private func objectPart(_ id: SchemaID, _ rules: Shared<ObjectRules>) -> ObjectPart {
        var part = ObjectPart()
        part.require(rules.required.map(ExactText.init))
        part.minCount = max(rules.minProperties, part.required.count)
        part.maxCount = rules.maxProperties
        if rules.names != nil { part.unmasked.insert(KeywordPlace(node: id, keyword: "propertyNames")) }
        if !rules.properties.isEmpty || !rules.patterns.isEmpty || rules.additional != nil
            || others == .ifAsked && (rules.namesMembers || rules.unevaluated != nil)
        {
            part.sources = [id]
        }
        if rules.unevaluated != nil, rules.additional == nil {
            part.unmasked.insert(KeywordPlace(node: id, keyword: "unevaluatedProperties"))
        }
        return part
    }

    // MARK: Objects with and without certain members

    /// Values that are no objects, and objects without the member.
    func without(_ name: String) -> Alternatives {
        var all = Alternatives.any
        all.objects[0].absent = [ExactText(name)]
        return all
    }

    /// Only objects, with all these members.
    func having(_ names: [String]) -> Alternatives {
        var all = Alternatives()
        var part = ObjectPart()
        part.require(names.map(ExactText.init))
        part.minCount = part.required.count
        all.objects = [part]
        return all
    }
}

extension Alternatives {
    func or(_ other: Alternatives) -> Alternatives { .union([self, other]) }
}
