import JSONSchema

/// The fewest bytes of each target; one without a number has no complete value.
extension ShapeBuilder {
    /// Fills `fewestBytes` and `depth` of targets and shapes: the least fixpoint.
    /// - Throws: `ConstraintFault` if that takes too long.
    func countBytes() throws(ConstraintFault) {
        var parents = [[Int]](repeating: [], count: drafts.count)
        for (index, draft) in drafts.enumerated() {
            for shape in draft.shapes {
                for target in shape.targets where parents[target].last != index {
                    parents[target].append(index)
                }
            }
        }
        // The last one is usually deepest, so that its parents find it done.
        var waiting = Array(drafts.indices)
        var isWaiting = [Bool](repeating: true, count: drafts.count)
        var steps = 0
        while let index = waiting.popLast() {
            isWaiting[index] = false
            var fewest: Int?
            var depth = 0
            for shape in drafts[index].shapes {
                measure(shape)
                steps += 1 + shape.targets.count
                guard let bytes = shape.fewestBytes, bytes < fewest ?? .max else { continue }
                (fewest, depth) = (bytes, shape.depth)
            }
            guard steps <= ShapeLimits.countSteps else {
                throw ConstraintFault(
                    .tooLarge, at: drafts[index].key.first.map { schema[$0.id].pointer },
                    "finding the shortest values takes more than \(ShapeLimits.countSteps) steps")
            }
            guard fewest != drafts[index].fewestBytes || depth != drafts[index].depth else { continue }
            drafts[index].fewestBytes = fewest
            drafts[index].depth = depth
            for parent in parents[index] where !isWaiting[parent] {
                isWaiting[parent] = true
                waiting.append(parent)
            }
        }
    }

    private typealias Size = (bytes: Int, depth: Int)

    private func measure(_ shape: ShapeDraft) {
        shape.excess = excess(shape.kind)
        let size = shape.excess == nil ? size(shape) : nil
        shape.fewestBytes = size?.bytes
        shape.depth = size?.depth ?? 0
        guard let size else { return }
        if size.bytes > ShapeLimits.answerBytes { shape.excess = Self.tooLong }
        if size.depth > ShapeLimits.answerDepth {
            shape.excess =
                "even its shortest value is nested more than \(ShapeLimits.answerDepth) levels deep"
        }
        if shape.excess != nil { shape.fewestBytes = nil }
    }

    private static let tooLong = "even its shortest value takes more than \(ShapeLimits.answerBytes) bytes"

    /// Limits that are exceeded without counting.
    private func excess(_ kind: ShapeDraft.Form) -> String? {
        switch kind {
        case .text: return nil
        case .string(let text): return text.minLength > ShapeLimits.answerBytes ? Self.tooLong : nil
        case .array(let array): return array.minCount > ShapeLimits.answerBytes ? Self.tooLong : nil
        case .object(let object):
            let others = object.minCount - object.members.lazy.filter(\.isRequired).count
            guard others > ShapeLimits.otherMembers else { return nil }
            return
                "it asks for more than \(ShapeLimits.otherMembers) properties beside those it names as required"
        }
    }

    private func size(_ shape: ShapeDraft) -> Size? {
        switch shape.kind {
        case .text(let text): (text.fewestBytes(text.start), 0)
        case .string(let text): text.fewestBytes(text.contents.start, count: 0).map { ($0 + 2, 0) }
        case .array(let array): size(array)
        case .object(let object): size(object)
        }
    }

    private func size(_ array: ArrayShape) -> Size? {
        var sum = 2 + max(0, array.minCount - 1)
        var depth = 0
        for target in array.prefix.prefix(array.minCount) {
            guard let bytes = drafts[target].fewestBytes else { return nil }
            sum = Self.sum(sum, bytes)
            depth = max(depth, drafts[target].depth)
        }
        let others = array.minCount - array.prefix.count
        guard others > 0 else { return (sum, depth + 1) }
        guard let target = array.rest, let bytes = drafts[target].fewestBytes else { return nil }
        return (Self.sum(sum, Self.product(others, bytes)), max(depth, drafts[target].depth) + 1)
    }

    private func size(_ object: ObjectDraft) -> Size? {
        var sum = 2
        var count = 0
        var depth = 0
        var optional: [Size] = []
        for member in object.members {
            guard let bytes = drafts[member.target].fewestBytes else {
                if member.isRequired { return nil }
                continue
            }
            guard member.isRequired || object.minCount > 0 else { continue }
            let all = Self.sum(JSONSpelling.contents(of: member.name).count + 4, bytes)
            if member.isRequired {
                sum = Self.sum(sum, all)
                depth = max(depth, drafts[member.target].depth)
                count += 1
            } else {
                optional.append((all, drafts[member.target].depth))
            }
        }
        if count > object.maxCount ?? .max { return nil }
        let missing = object.minCount - count
        if missing > 0 {
            if let free = object.free {
                let known = object.members.map(\.name) + object.forbidden.map(\.text)
                free.findShortest(besides: Set(known.map(JSONSpelling.contents)))
                var others: [Size] = []
                for (name, matched) in free.shortest {
                    guard let target = free.targets[matched], let value = drafts[target].fewestBytes else {
                        continue
                    }
                    others.append((Self.sum(name.count + 4, value), drafts[target].depth))
                }
                optional += others
                // Names get longer as they get more; this is an estimate. Names of several kinds are counted one by
                // one, as some may be invalid.
                let isOne =
                    free.targets.count == 1
                    && free.targets.values.allSatisfy { drafts[$0].fewestBytes != nil }
                let more = isOne ? (free.count ?? .max) - others.count : 0
                if let longest = others.map(\.bytes).max(), optional.count < missing, more > 0 {
                    let added = min(missing - optional.count, more)
                    sum = Self.sum(sum, Self.product(added, longest + 1))
                    count += added
                }
            }
            let missing = object.minCount - count
            guard optional.count >= missing else { return nil }
            for one in optional.sorted(by: { $0.bytes < $1.bytes }).prefix(missing) {
                sum = Self.sum(sum, one.bytes)
                depth = max(depth, one.depth)
            }
            count += missing
        }
        // A comma less than members; one was counted for each.
        return (count > 0 ? sum - 1 : sum, depth + 1)
    }

    private static func sum(_ a: Int, _ b: Int) -> Int { min(a + b, ShapeLimits.bytes) }

    private static func product(_ a: Int, _ b: Int) -> Int {
        let (product, isTooLarge) = a.multipliedReportingOverflow(by: b)
        return isTooLarge ? ShapeLimits.bytes : min(product, ShapeLimits.bytes)
    }
}
