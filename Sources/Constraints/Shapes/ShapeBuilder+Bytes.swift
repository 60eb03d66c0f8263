import JSONSchema

/// The fewest bytes of each goal: where there are none, no value comes to an end.
extension ShapeBuilder {
    /// Fills `fewestBytes` of goals and shapes: the least fixpoint.
    func countBytes() {
        var parents = [[Int]](repeating: [], count: drafts.count)
        for (index, draft) in drafts.enumerated() {
            for shape in draft.shapes {
                for goal in shape.goals where parents[goal].last != index { parents[goal].append(index) }
            }
        }
        // What was met last stands deepest as a rule, so that its parents find it done.
        var waiting = Array(drafts.indices)
        var isWaiting = [Bool](repeating: true, count: drafts.count)
        while let index = waiting.popLast() {
            isWaiting[index] = false
            var fewest: Int?
            for shape in drafts[index].shapes {
                shape.fewestBytes = bytes(shape)
                fewest = least(fewest, shape.fewestBytes)
            }
            guard fewest != drafts[index].fewestBytes else { continue }
            drafts[index].fewestBytes = fewest
            for parent in parents[index] where !isWaiting[parent] {
                isWaiting[parent] = true
                waiting.append(parent)
            }
        }
    }

    private func bytes(_ shape: ShapeDraft) -> Int? {
        switch shape.kind {
        case .text(let text): text.fewestBytes(text.start)
        case .string(let text): text.fewestBytes(text.contents.start, count: 0).map { $0 + 2 }
        case .array(let array): bytes(array)
        case .object(let object): bytes(object)
        }
    }

    private func bytes(_ array: ArrayDraft) -> Int? {
        var sum = 2 + max(0, array.minCount - 1)
        for goal in array.prefix.prefix(array.minCount) {
            guard let bytes = drafts[goal].fewestBytes else { return nil }
            sum = Self.sum(sum, bytes)
        }
        let others = array.minCount - array.prefix.count
        guard others > 0 else { return sum }
        guard let bytes = array.rest.flatMap({ drafts[$0].fewestBytes }) else { return nil }
        return Self.sum(sum, Self.product(others, bytes))
    }

    private func bytes(_ object: ObjectDraft) -> Int? {
        var sum = 2
        var count = 0
        var optional: [Int] = []
        for member in object.members {
            guard let bytes = drafts[member.goal].fewestBytes else {
                if member.isRequired { return nil }
                continue
            }
            guard member.isRequired || object.minCount > 0 else { continue }
            let all = Self.sum(JSONSpelling.contents(of: member.name.text).count + 4, bytes)
            if member.isRequired {
                sum = Self.sum(sum, all)
                count += 1
            } else {
                optional.append(all)
            }
        }
        if count > object.maxCount ?? .max { return nil }
        let missing = object.minCount - count
        if missing > 0 {
            if let free = object.free {
                let known = object.members.map(\.name) + object.forbidden
                free.findShortest(besides: Set(known.map { JSONSpelling.contents(of: $0.text) }))
                var others: [Int] = []
                for (bytes, matched) in free.shortest {
                    guard let goal = free.goals[matched], let value = drafts[goal].fewestBytes else {
                        continue
                    }
                    others.append(Self.sum(bytes + 4, value))
                }
                optional += others
                // Names get longer as they get more; this is about right. Where some names can't be used the others
                // are counted one by one.
                let isWhole = free.goals.values.allSatisfy { drafts[$0].fewestBytes != nil }
                let more = isWhole ? (free.count ?? .max) - others.count : 0
                if let longest = others.max(), optional.count < missing, more > 0 {
                    let added = min(missing - optional.count, more)
                    sum = Self.sum(sum, Self.product(added, longest + 1))
                    count += added
                }
            }
            let missing = object.minCount - count
            guard optional.count >= missing else { return nil }
            for bytes in optional.sorted().prefix(missing) { sum = Self.sum(sum, bytes) }
            count += missing
        }
        // A comma less than members; one was counted for each.
        return count > 0 ? sum - 1 : sum
    }

    private static func sum(_ a: Int, _ b: Int) -> Int { min(a + b, ShapeLimits.bytes) }

    private static func product(_ a: Int, _ b: Int) -> Int {
        let (product, isTooLarge) = a.multipliedReportingOverflow(by: b)
        return isTooLarge ? ShapeLimits.bytes : min(product, ShapeLimits.bytes)
    }
}
