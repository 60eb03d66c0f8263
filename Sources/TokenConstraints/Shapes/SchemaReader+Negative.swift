import JSON
import JSONSchema

/// Values that a schema refuses: those that one of its keywords refuses.
///
/// Types, values, required names and properties are told. All other keywords may refuse any value of their type, and are
/// left to validation: negated, they are rare.
extension SchemaReader {
    func negative(_ id: SchemaID) -> Alternatives {
        let rules = schema[id].rules
        if let verdict = rules.verdict { return verdict ? .none : .any }
        let place = KeywordPlace(node: id, keyword: "")
        guard rules.combined == nil, rules.object?.rules.isDependent != true else {
            return Alternatives.any.unmasking(place)
        }
        var all: [Alternatives] = []
        if let types = rules.types { all.append(other(than: types, place)) }
        for list in [rules.constant, rules.enumeration].compactMap({ $0 }) {
            all.append(other(than: list.values, id))
        }
        var parts = Alternatives()
        if rules.number != nil { parts.numbers = [NumberPart(unmasked: [place])] }
        if rules.string != nil { parts.strings = [StringPart(unmasked: [place])] }
        if rules.array != nil { parts.arrays = [ArrayPart(unmasked: [place])] }
        if let object = rules.object { parts.objects = negative(object, place) }
        all.append(.union([parts, .none]))
        if let reference = rules.reference {
            all.append(alternatives(AppliedSchema(reference, isNegated: true)))
        }
        return .union(all)
    }

    private func other(than types: JSONTypes, _ place: KeywordPlace) -> Alternatives {
        var all = Alternatives()
        if !types.contains(.null) { all.literals += Alternatives.null }
        if !types.contains(.boolean) { all.literals += Alternatives.booleans }
        if !types.contains(.string) { all.strings = [StringPart()] }
        if !types.contains(.array) { all.arrays = [ArrayPart()] }
        if !types.contains(.object) { all.objects = [ObjectPart()] }
        if !types.contains(.integer) {
            all.numbers = [NumberPart()]
        } else if !types.isSuperset(of: .number) {
            all.numbers = [NumberPart(unmasked: [place])]
        }
        return all
    }

    private func other(than values: [JSONValue], _ id: SchemaID) -> Alternatives {
        var all = Alternatives.any
        let place = KeywordPlace(node: id, keyword: "")
        let excluded = Set(values.compactMap { Literal($0) })
        all.literals = all.literals.filter { !excluded.contains($0) }
        for value in values {
            switch value {
            case .null, .bool: break
            case .int, .number: all.numbers[0].unmasked.insert(place)
            case .string(let text): all.strings[0].forbidden.append(ExactText(text))
            case .array: all.arrays[0].unmasked.insert(place)
            case .object: all.objects[0].unmasked.insert(place)
            }
        }
        if !all.strings[0].forbidden.isEmpty { all.strings[0].origins = [id] }
        return all
    }

    private func negative(_ rules: Shared<ObjectRules>, _ place: KeywordPlace) -> [ObjectPart] {
        var parts = rules.required.map { ObjectPart(absent: [ExactText($0)]) }
        for (name, schema) in rules.properties where !isTrue(schema) {
            let member = ObjectPart.MemberRule(
                name: ExactText(name), schema: AppliedSchema(schema, isNegated: true))
            parts.append(ObjectPart(required: [member.name], members: [member], minCount: 1))
        }
        if rules.rules.asksMore || rules.additional.map({ !isTrue($0) }) ?? false {
            parts.append(ObjectPart(unmasked: [place]))
        }
        return parts
    }

    private func isTrue(_ id: SchemaID) -> Bool { normal([AppliedSchema(id)]) == [] }
}

extension ObjectRules {
    fileprivate var isDependent: Bool { !dependentRequired.isEmpty || !dependentSchemas.isEmpty }

    fileprivate var asksMore: Bool {
        minProperties > 0 || maxProperties != nil || !patterns.isEmpty || names != nil || unevaluated != nil
    }
}
