import JSON
import JSONSchema

/// The values that a schema refuses: those that one of its keywords refuses.
extension SchemaReader {
    func negative(_ id: SchemaID) -> Alternatives {
        let rules = schema[id].rules
        if let verdict = rules.verdict { return verdict ? .none : .any }
        var all: [Alternatives] = []
        if let types = rules.types { all.append(other(than: types, id)) }
        if let constant = rules.constant { all.append(other(than: constant.values, id, "const")) }
        if let enumeration = rules.enumeration { all.append(other(than: enumeration.values, id, "enum")) }
        var parts = Alternatives()
        if let number = rules.number { parts.numbers = negative(number, id) }
        if let string = rules.string { parts.strings = negative(string, id) }
        if let array = rules.array { parts.arrays = negative(array, id) }
        if let object = rules.object { parts.objects = negative(object, id) }
        all.append(.union([parts, .none]))
        if let reference = rules.reference { all.append(negated(reference)) }
        if let reference = rules.dynamicReference {
            if let target = target(of: reference) {
                all.append(negated(target))
            } else {
                unmasked.insert(KeywordPlace(node: id, keyword: "$dynamicRef"))
                return .any
            }
        }
        for (name, needed, keyword) in rules.object?.dependentRequired ?? [] {
            let place = KeywordPlace(node: id, keyword: keyword)
            all += needed.map { both(having([name]), without($0), orElse: place) }
        }
        for (name, target, keyword) in rules.object?.dependentSchemas ?? [] {
            all.append(
                both(having([name]), negated(target), orElse: KeywordPlace(node: id, keyword: keyword)))
        }
        if let combined = rules.combined { all += negative(combined, id) }
        return .union(all)
    }

    private func negated(_ id: SchemaID) -> Alternatives { alternatives(AppliedSchema(id, isNegated: true)) }

    private func negative(_ rules: Shared<CombinedRules>, _ id: SchemaID) -> [Alternatives] {
        func all(_ parts: [Alternatives], _ keyword: String) -> Alternatives {
            parts.reduce(.any) { both($0, $1, orElse: KeywordPlace(node: id, keyword: keyword)) }
        }
        var found = rules.allOf.map(negated)
        if !rules.anyOf.isEmpty { found.append(all(rules.anyOf.map(negated), "anyOf")) }
        if !rules.oneOf.isEmpty {
            let branches = rules.oneOf
            found.append(all(branches.map(negated), "oneOf"))
            if branches.count <= 8 {
                for i in branches.indices {
                    for j in branches.indices.dropFirst(i + 1) {
                        found.append(all([alternatives(branches[i]), alternatives(branches[j])], "oneOf"))
                    }
                }
            } else {
                found.append(Alternatives.any.unmasking(KeywordPlace(node: id, keyword: "oneOf")))
            }
        }
        if let not = rules.not { found.append(alternatives(not)) }
        if let condition = rules.condition {
            if let then = rules.then { found.append(all([alternatives(condition), negated(then)], "if")) }
            if let otherwise = rules.otherwise {
                found.append(all([negated(condition), negated(otherwise)], "if"))
            }
        }
        return found
    }

    // MARK: Types and literals

    private func other(than types: JSONTypes, _ id: SchemaID) -> Alternatives {
        var all = Alternatives()
        if !types.contains(.null) { all.literals += Alternatives.null }
        if !types.contains(.boolean) { all.literals += Alternatives.booleans }
        if !types.contains(.string) { all.strings = [StringPart()] }
        if !types.contains(.array) { all.arrays = [ArrayPart()] }
        if !types.contains(.object) { all.objects = [ObjectPart()] }
        if !types.contains(.integer) {
            all.numbers = [NumberPart()]
        } else if !types.isSuperset(of: .number) {
            var part = NumberPart()
            part.isFraction = true
            part.unmasked = [KeywordPlace(node: id, keyword: "type")]
            all.numbers = [part]
        }
        return all
    }

    private func other(than values: [JSONValue], _ id: SchemaID, _ keyword: String) -> Alternatives {
        var all = Alternatives.any
        let place = KeywordPlace(node: id, keyword: keyword)
        let excluded = Set(values.compactMap { Literal($0) })
        all.literals = all.literals.filter { !excluded.contains($0) }
        var number = NumberPart()
        var string = StringPart()
        for value in values {
            switch value {
            case .null, .bool: break
            case .int, .number: number.forbidden.addMissing([ExactNumber(value)].compactMap { $0 })
            case .string(let text): string.forbidden.append(ExactText(text))
            case .array(let items):
                if items.isEmpty { all.arrays[0].minCount = 1 } else { all.arrays[0].unmasked.insert(place) }
            case .object(let members):
                if members.isEmpty {
                    all.objects[0].minCount = 1
                } else {
                    all.objects[0].unmasked.insert(place)
                }
            }
        }
        if number != NumberPart() { number.origins = [id] }
        if string != StringPart() { string.origins = [id] }
        all.numbers = [number]
        all.strings = [string]
        return all
    }

    // MARK: Values of one type

    private func negative(_ rules: Shared<NumberRules>, _ id: SchemaID) -> [NumberPart] {
        var parts: [NumberPart] = []
        func add(_ change: (inout NumberPart) -> Void) {
            var part = NumberPart()
            part.origins = [id]
            change(&part)
            parts.append(part)
        }
        if let bound = rules.minimum { add { $0.exclusiveMaximum = bound } }
        if let bound = rules.exclusiveMinimum { add { $0.maximum = bound } }
        if let bound = rules.maximum { add { $0.exclusiveMinimum = bound } }
        if let bound = rules.exclusiveMaximum { add { $0.minimum = bound } }
        if rules.multipleOf != nil { add { $0.unmasked = [KeywordPlace(node: id, keyword: "multipleOf")] } }
        return parts
    }

    private func negative(_ rules: Shared<StringRules>, _ id: SchemaID) -> [StringPart] {
        var parts: [StringPart] = []
        func add(_ change: (inout StringPart) -> Void) {
            var part = StringPart()
            part.origins = [id]
            change(&part)
            parts.append(part)
        }
        if rules.minLength > 0 { add { $0.maxLength = rules.minLength - 1 } }
        if let longest = rules.maxLength, longest < .max { add { $0.minLength = longest + 1 } }
        if rules.pattern != nil { add { $0.unmasked = [KeywordPlace(node: id, keyword: "pattern")] } }
        if let format = rules.format, Formats.names.contains(format) {
            add { $0.unmasked = [KeywordPlace(node: id, keyword: "format")] }
        }
        return parts
    }

    private func negative(_ rules: Shared<ArrayRules>, _ id: SchemaID) -> [ArrayPart] {
        var parts: [ArrayPart] = []
        func add(_ keyword: String? = nil, _ change: (inout ArrayPart) -> Void) {
            var part = ArrayPart()
            change(&part)
            if let keyword { part.unmasked = [KeywordPlace(node: id, keyword: keyword)] }
            parts.append(part)
        }
        if rules.minItems > 0 { add { $0.maxCount = rules.minItems - 1 } }
        if let most = rules.maxItems, most < .max { add { $0.minCount = most + 1 } }
        if rules.isUnique { add("uniqueItems") { $0.minCount = 2 } }
        for (index, schema) in rules.prefix.enumerated() where !isTrue(schema) {
            add {
                $0.items = [.init(index: index, schema: AppliedSchema(schema, isNegated: true))]
                $0.minCount = index + 1
            }
        }
        if let rest = rules.rest, !isTrue(rest) {
            let isFalse = schema[rest].rules.verdict == false
            add(isFalse ? nil : rules.restKeyword) { $0.minCount = rules.prefix.count + 1 }
        }
        if let contains = rules.contains {
            if rules.minContains == 1 {
                add { $0.all = [AppliedSchema(contains, isNegated: true)] }
            } else if rules.minContains > 1 {
                add("contains") { _ in }
            }
            if let most = rules.maxContains, most < .max { add("maxContains") { $0.minCount = most + 1 } }
        }
        if rules.unevaluated != nil { add("unevaluatedItems") { $0.minCount = 1 } }
        return parts
    }

    private func negative(_ rules: Shared<ObjectRules>, _ id: SchemaID) -> [ObjectPart] {
        var parts: [ObjectPart] = []
        func add(_ keyword: String? = nil, _ change: (inout ObjectPart) -> Void) {
            var part = ObjectPart()
            change(&part)
            if let keyword { part.unmasked = [KeywordPlace(node: id, keyword: keyword)] }
            parts.append(part)
        }
        for name in rules.required { add { $0.absent = [ExactText(name)] } }
        if rules.minProperties > 0 { add { $0.maxCount = rules.minProperties - 1 } }
        if let most = rules.maxProperties, most < .max { add { $0.minCount = most + 1 } }
        for (name, schema) in rules.properties where !isTrue(schema) {
            add {
                $0.required = [ExactText(name)]
                $0.minCount = 1
                $0.members = [.init(name: ExactText(name), schema: AppliedSchema(schema, isNegated: true))]
            }
        }
        if rules.patterns.contains(where: { !isTrue($0.schema) }) {
            add("patternProperties") { $0.minCount = 1 }
        }
        if let extra = rules.additional, !isTrue(extra) {
            add {
                $0.outside = [id]
                $0.minCount = 1
            }
        }
        if let names = rules.names, !isTrue(names) { add("propertyNames") { $0.minCount = 1 } }
        if rules.unevaluated != nil { add("unevaluatedProperties") { $0.minCount = 1 } }
        return parts
    }

    private func isTrue(_ id: SchemaID) -> Bool { normal([AppliedSchema(id)]) == [] }
}
