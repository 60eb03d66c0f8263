import JSON
import JSONSchema

extension SchemaShape {
    /// A value with the members of its objects in the order in which they would be written; nil if the shapes don't allow
    /// it.
    package func fitting(_ value: JSONValue) -> JSONValue? {
        var order = MemberOrder(shape, literals)
        return order.fitting(value, shape.root)
    }
}

/// Finds the shapes of a value.
private struct MemberOrder {
    let shape: AnswerShape
    let literals: TextBuilder.CompoundLiterals
    private var steps = 0

    init(_ shape: AnswerShape, _ literals: TextBuilder.CompoundLiterals) {
        (self.shape, self.literals) = (shape, literals)
    }

    mutating func fitting(_ value: JSONValue, _ target: Int) -> JSONValue? {
        for shape in shape[target].shapes {
            if let found = fitting(value, shape) { return found }
        }
        return nil
    }

    private mutating func fitting(_ value: JSONValue, _ shape: Shape) -> JSONValue? {
        steps += 1
        guard steps <= ShapeLimits.orderSteps else { return nil }
        switch (shape, value) {
        case (.text(let text), .object), (.text(let text), .array): return literal(value, text)
        case (.text(let text), _):
            // No conditional expression, in which `nil` would be JSON's null.
            guard text.end(of: TextBuilder.text(of: value)) != nil else { return nil }
            return value
        case (.string(let text), .string(let string)):
            guard string.unicodeScalars.count >= text.minLength,
                string.unicodeScalars.count <= text.maxLength ?? .max,
                text.contents.end(of: JSONSpelling.contents(of: string)) != nil
            else { return nil }
            return value
        case (.array(let array), .array(let items)): return fitting(items, array)
        case (.object(let object), .object(let members)):
            guard let parts = parts(members, object) else { return nil }
            var ordered: [JSONMember] = []
            for (name, value, target) in parts {
                guard let value = fitting(value, target) else { return nil }
                ordered.append(JSONMember(name: name, value: value))
            }
            return .object(JSONObject(ordered))
        default: return nil
        }
    }

    private mutating func fitting(_ items: [JSONValue], _ array: ArrayShape) -> JSONValue? {
        guard items.count >= array.minCount, items.count <= array.maxCount ?? .max else { return nil }
        var ordered: [JSONValue] = []
        for (index, item) in items.enumerated() {
            guard let target = index < array.prefix.count ? array.prefix[index] : array.rest,
                let value = fitting(item, target)
            else { return nil }
            ordered.append(value)
        }
        return .array(ordered)
    }

    /// Members in the order of a shape; nil if their names don't fit it.
    private func parts(
        _ members: JSONObject, _ object: ObjectShape
    ) -> [(name: String, value: JSONValue, target: Int)]? {
        guard members.count >= object.minCount, members.count <= object.maxCount ?? .max else { return nil }
        var byName: [ExactText: JSONValue] = [:]
        for member in members { byName[ExactText(member.name)] = member.value }
        var parts: [(name: String, value: JSONValue, target: Int)] = []
        for member in object.members {
            if let value = byName.removeValue(forKey: ExactText(member.name)) {
                parts.append((member.name, value, member.target))
            } else if member.isRequired {
                return nil
            }
        }
        guard !byName.isEmpty else { return parts }
        guard let free = object.free, !object.reserved.contains(where: { byName[ExactText($0)] != nil })
        else {
            return nil
        }
        for member in members where byName[ExactText(member.name)] != nil {
            guard let state = free.names.end(of: JSONSpelling.contents(of: member.name)) else { return nil }
            parts.append((member.name, member.value, free.target(state)))
        }
        return parts
    }

    /// An array or object of an enumeration, whose members may be in any order.
    private func literal(_ value: JSONValue, _ text: any ByteAutomaton) -> JSONValue? {
        if text.end(of: TextBuilder.text(of: value)) != nil { return value }
        guard let key = ValueKey(value) else { return nil }
        return literals[ObjectIdentifier(text)]?[key]
    }
}
