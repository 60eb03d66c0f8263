import JSON
import JSONSchema

/// Turns a schema into targets and shapes: first all parts of its values, then only those with complete values.
final class ShapeBuilder {
    let reader: SchemaReader
    let schema: Schema
    let effort: CompileEffort
    var drafts: [MaskTargetDraft] = []
    private var ids: [[AppliedSchema]: Int] = [:]
    private var partCount = 0
    var names: [NameSignature: (text: NameText?, areTold: Bool, matched: [[Int]])] = [:]

    init(_ schema: Schema, _ effort: CompileEffort, _ others: OtherMembers) {
        self.schema = schema
        self.effort = effort
        reader = SchemaReader(schema, effort, others)
    }

    // MARK: Targets

    /// - Parameter unmasked: receives keywords left to validation if there are too many targets.
    func target(_ key: [AppliedSchema], _ unmasked: inout Set<KeywordPlace>) -> Int {
        if let known = ids[key] { return known }
        var key = key
        if drafts.count >= ShapeLimits.targets || partCount >= ShapeLimits.parts, let first = key.first {
            unmasked.insert(KeywordPlace(node: first.id, keyword: ""))
            key = []
            if let known = ids[key] { return known }
        }
        ids[key] = drafts.count
        drafts.append(MaskTargetDraft(key: key))
        return drafts.count - 1
    }

    /// Makes the drafts of all targets reachable from the root.
    /// - Returns: the root's number; nil if it is false.
    func draft() throws(ConstraintFault) -> Int? {
        guard let key = reader.normal([AppliedSchema(schema.root)]) else { return nil }
        var none: Set<KeywordPlace> = []
        let root = target(key, &none)
        var next = 0
        while next < drafts.count {
            drafts[next].shapes = try shapes(drafts[next].key)
            next += 1
        }
        return root
    }

    private func shapes(_ key: [AppliedSchema]) throws(ConstraintFault) -> [ShapeDraft] {
        guard let first = key.first else { return try ownShapes([]) }
        if partCount < ShapeLimits.parts, !effort.isUsedUp {
            let own = try ownShapes(key)
            // Results after the budget is used up are incomplete.
            if !effort.isUsedUp { return own }
        }
        reader.unmasked.insert(KeywordPlace(node: first.id, keyword: ""))
        return try ownShapes([])
    }

    private func ownShapes(_ key: [AppliedSchema]) throws(ConstraintFault) -> [ShapeDraft] {
        let all = reader.expand(key)
        var shapes: [ShapeDraft] = []
        if !all.literals.isEmpty {
            let pointer = key.first.map { schema[$0.id].pointer } ?? "#"
            shapes.append(
                ShapeDraft(.text(try reader.texts.literal(all.literals, at: pointer)), unmasked: []))
        }
        for part in all.numbers {
            let (text, unmasked) = reader.texts.number(part)
            if let text { shapes.append(ShapeDraft(.text(text), unmasked: unmasked)) }
        }
        for part in all.strings {
            let (text, unmasked) = reader.texts.string(part)
            if let text { shapes.append(ShapeDraft(.string(text), unmasked: unmasked)) }
        }
        for part in all.arrays { if let shape = shape(part) { shapes.append(shape) } }
        let objects = all.objects.compactMap { part in
            self.shape(part).map { (shape: $0, isNamed: namesRequired(part)) }
        }
        // An object that needs unnamed members is the last resort.
        let isAnyNamed = objects.contains(where: \.isNamed)
        return shapes + objects.filter { $0.isNamed || !isAnyNamed }.map(\.shape)
    }

    // MARK: Arrays

    private func shape(_ part: ArrayPart) -> ShapeDraft? {
        var unmasked = part.unmasked
        var draft = ArrayShape(minCount: part.minCount, maxCount: part.maxCount)
        let length = part.sources.map { schema[$0].rules.array?.prefix.count ?? 0 }.max() ?? 0
        for index in 0...length {
            guard index < draft.maxCount ?? .max else { break }
            guard let key = reader.normal(reader.itemSchemas(part, index)) else {
                draft.maxCount = index
                break
            }
            let target = target(key, &unmasked)
            if index < length { draft.prefix.append(target) } else { draft.rest = target }
        }
        partCount += draft.prefix.count
        guard draft.minCount <= draft.maxCount ?? .max else { return nil }
        return ShapeDraft(.array(draft), unmasked: unmasked)
    }

    // MARK: Objects

    private func shape(_ part: ObjectPart) -> ShapeDraft? {
        var unmasked = part.unmasked
        var draft = ObjectDraft(minCount: part.minCount, maxCount: part.maxCount)
        draft.origins = part.sources
        let required = Set(part.required)
        var seen: Set<ExactText> = []
        var isPossible = true
        func add(_ name: ExactText) {
            guard seen.insert(name).inserted else { return }
            if !part.absent.contains(name), let key = reader.normal(reader.memberSchemas(part, name)) {
                draft.members.append(
                    .init(
                        name: name.text, target: target(key, &unmasked), isRequired: required.contains(name)))
            } else {
                draft.forbidden.append(name)
                if required.contains(name) { isPossible = false }
            }
        }
        for source in part.sources {
            for (name, _) in schema[source].rules.object?.properties ?? [] { add(ExactText(name)) }
        }
        for name in part.required { add(name) }
        for rule in part.members { add(rule.name) }
        guard isPossible else { return nil }
        for name in part.absent.sorted() { add(name) }
        let isClosed = isClosed(part, draft)
        if draft.maxCount ?? .max > required.count {
            let spared = reader.others == .asAllowed ? [] : seen.map(\.text).sorted()
            draft.free =
                freeNames(part, &unmasked, isClosed: isClosed, sparing: spared)
                ?? (spared.isEmpty ? nil : freeNames(part, &unmasked, isClosed: isClosed))
            draft.free?.look(besides: Array(seen))
            if draft.free?.count == 0 { draft.free = nil }
            if let text = draft.free?.text, text.fewestBytes(text.start) > ShapeLimits.nameBytes {
                draft.free = nil
            }
        }
        partCount += draft.members.count
        guard draft.minCount <= draft.maxCount ?? .max else { return nil }
        return ShapeDraft(.object(draft), unmasked: unmasked)
    }

    /// Whether unnamed members must match `patternProperties`. Else the object needs more members than are named, or a
    /// schema describes others.
    private func isClosed(_ part: ObjectPart, _ draft: ObjectDraft) -> Bool {
        guard reader.others == .ifAsked else { return false }
        var (isNamed, hasPatterns) = (false, false)
        for case let rules? in part.sources.lazy.map({ self.schema[$0].rules.object }) {
            let others = rules.additional ?? rules.unevaluated
            if let others, schema[others].rules.verdict != false { return false }
            isNamed = isNamed || rules.namesMembers
            hasPatterns = hasPatterns || !rules.patterns.isEmpty
        }
        return isNamed && (hasPatterns || draft.members.count >= draft.minCount)
    }

    /// Whether the schemas name all members that it needs.
    private func namesRequired(_ part: ObjectPart) -> Bool {
        guard reader.others == .ifAsked, !part.members.isEmpty else { return true }
        return part.members.allSatisfy { member in
            part.sources.isEmpty
                || part.sources.contains { source in
                    guard let rules = schema[source].rules.object else { return false }
                    return rules.additional.map { schema[$0].rules.verdict != false } ?? false
                        || rules.property(member.name.text) != nil
                        || rules.required.contains { ExactText($0) == member.name }
                        || rules.patterns.contains { reader.matches(member.name, $0.pattern) }
                }
        }
    }
}
