import JSONSchema

/// The shapes that have complete values.
extension ShapeBuilder {
    /// After `countBytes`.
    /// - Returns: the targets reachable from the root, keywords to validate, and objects that may have unnamed
    ///   members.
    func result(_ root: Int) -> (shape: AnswerShape, validated: [SchemaMention], open: [SchemaMention]) {
        var places: [Int: Int] = [root: 0]
        var order = [root]
        var targets: [MaskTarget] = []
        var unmasked = reader.unmasked
        var openObjects: Set<KeywordPlace> = []
        func place(_ target: Int) -> Int {
            if let known = places[target] { return known }
            places[target] = order.count
            order.append(target)
            return order.count - 1
        }
        while targets.count < order.count {
            let draft = drafts[order[targets.count]]
            var shapes: [Shape] = []
            for shape in draft.shapes where shape.fewestBytes != nil {
                var open = shape.unmasked
                switch shape.kind {
                case .text(let text): shapes.append(.text(text))
                case .string(let text): shapes.append(.string(text))
                case .array(let array):
                    let final = finished(array, place)
                    if final.maxCount ?? .max <= 1 { open = open.filter { $0.keyword != "uniqueItems" } }
                    shapes.append(.array(final))
                case .object(let object):
                    let final = finished(object, place)
                    if final.free != nil,
                        let origin = object.origins.first ?? draft.key.first(where: { !$0.isNegated })?.id
                    {
                        openObjects.insert(KeywordPlace(node: origin, keyword: ""))
                    }
                    shapes.append(.object(final))
                }
                unmasked.formUnion(open)
            }
            targets.append(MaskTarget(shapes: shapes, fewestBytes: draft.fewestBytes ?? 0))
        }
        return (
            AnswerShape(targets: targets, root: 0), mentions(unmasked),
            mentions(openObjects)
        )
    }

    private func isReachable(_ target: Int) -> Bool { drafts[target].fewestBytes != nil }

    private func finished(_ array: ArrayShape, _ place: (Int) -> Int) -> ArrayShape {
        let prefix = Array(array.prefix.prefix { isReachable($0) })
        var rest = prefix.count == array.prefix.count ? array.rest : nil
        if let target = rest, !isReachable(target) { rest = nil }
        let most = rest == nil ? min(array.maxCount ?? .max, prefix.count) : array.maxCount
        return ArrayShape(
            prefix: prefix.map(place), rest: rest.map(place), minCount: array.minCount, maxCount: most)
    }

    private func finished(_ object: ObjectDraft, _ place: (Int) -> Int) -> ObjectShape {
        let members = object.members.filter { isReachable($0.target) }
        let required = members.filter(\.isRequired).count
        var free: FreeNames?
        if let draft = object.free, object.maxCount ?? .max > required, let text = pruned(draft) {
            free = FreeNames(
                text, draft.targets.filter { isReachable($0.value) }.mapValues { place($0) },
                shortest: shortest(draft).map { ($0.name, place($0.target)) })
        }
        var most = object.maxCount
        if free == nil, most ?? .max >= members.count { most = nil }
        return ObjectShape(
            members: members.map {
                .init(name: $0.name, target: place($0.target), isRequired: $0.isRequired)
            },
            reserved: object.members.map(\.name) + object.forbidden.map(\.text), free: free,
            minCount: max(object.minCount, required), maxCount: most)
    }

    /// Names for the members of a shortest value, if there are several kinds: the cheapest members first.
    private func shortest(_ free: FreeDraft) -> [(name: [UInt8], target: Int)] {
        guard free.targets.count > 1 else { return [] }
        var names: [(name: [UInt8], target: Int, bytes: Int)] = []
        for (name, matched) in free.shortest {
            guard let target = free.targets[matched], let bytes = drafts[target].fewestBytes else { continue }
            names.append((name, target, name.count + bytes))
        }
        names.sort { $0.bytes != $1.bytes ? $0.bytes < $1.bytes : $0.name.lexicographicallyPrecedes($1.name) }
        return names.map { ($0.name, $0.target) }
    }

    /// The names whose members have complete values.
    private func pruned(_ free: FreeDraft) -> NameText? {
        if free.targets.values.allSatisfy(isReachable) { return free.text }
        return free.conditions.build { matched in
            free.targets[matched].map(isReachable) ?? false
        }.names
    }

    private func mentions(_ places: Set<KeywordPlace>) -> [SchemaMention] {
        places.map { place in
            let pointer = schema[place.node].pointer
            guard place.keyword.isEmpty else {
                return SchemaMention(name: place.keyword, pointer: pointer + "/" + place.keyword)
            }
            let last = pointer.split(at: "/").last { $0.contains { !$0.isNumber } }
            return SchemaMention(name: last.map(String.init) ?? "#", pointer: pointer)
        }.sorted { ($0.pointer, $0.name) < ($1.pointer, $1.name) }
    }
}
