import JSON
import JSONSchema

extension SchemaShape {
    /// A value with the members of its objects in the order in which they would be written; nil if the shapes don't allow
    /// it.
    package func fitting(_ value: JSONValue) -> JSONValue? {
        var order = MemberOrder(shape, literals)
        let tree = order.tree(value)
        return order.fitting(tree, shape.root)
    }
}

/// Finds the shapes of a value. Each part of the value is checked once for each target.
private struct MemberOrder {
    /// A value whose parts are numbered.
    final class Tree {
        let number: Int
        let value: JSONValue
        let items: [Tree]
        let members: [(name: ExactText, value: Tree)]

        init(
            _ number: Int, _ value: JSONValue, items: [Tree] = [],
            members: [(name: ExactText, value: Tree)] = []
        ) {
            self.number = number
            self.value = value
            self.items = items
            self.members = members
        }
    }

    private struct Question: Hashable {
        let part: Int
        let target: MaskTargetID
    }

    private let shape: AnswerShape
    private let literals: TextBuilder.CompoundLiterals
    private var count = 0
    private var answers: [Question: JSONValue?] = [:]
    private var steps = 0

    init(_ shape: AnswerShape, _ literals: TextBuilder.CompoundLiterals) {
        self.shape = shape
        self.literals = literals
    }

    mutating func tree(_ value: JSONValue) -> Tree {
        count += 1
        let number = count
        switch value {
        case .array(let items): return Tree(number, value, items: items.map { tree($0) })
        case .object(let members):
            return Tree(number, value, members: members.map { (ExactText($0.name), tree($0.value)) })
        default: return Tree(number, value)
        }
    }

    mutating func fitting(_ tree: Tree, _ target: MaskTargetID) -> JSONValue? {
        let question = Question(part: tree.number, target: target)
        if let known = answers[question] { return known }
        var found: JSONValue?
        for shape in shape[target].shapes {
            found = fitting(tree, shape)
            if found != nil { break }
        }
        answers[question] = .some(found)
        return found
    }

    private mutating func fitting(_ tree: Tree, _ shape: Shape) -> JSONValue? {
        steps += 1
        guard steps <= ShapeLimits.orderSteps else { return nil }
        switch (shape, tree.value) {
        case (.text(let text), .object), (.text(let text), .array):
            return literal(tree, text)
        case (.text(let text), _):
            // No conditional expression, in which `nil` would be JSON's null.
            guard text.end(of: TextBuilder.text(of: tree.value)) != nil else { return nil }
            return tree.value
        case (.string(let text), .string(let string)):
            guard string.unicodeScalars.count >= text.minLength,
                string.unicodeScalars.count <= text.maxLength ?? .max,
                text.contents.end(of: JSONSpelling.contents(of: string)) != nil
            else { return nil }
            return tree.value
        case (.array(let array), .array): return fitting(tree.items, array)
        case (.object(let object), .object):
            guard let parts = parts(tree.members, object) else { return nil }
            var members: [JSONMember] = []
            for (name, value, target) in parts {
                guard let value = fitting(value, target) else { return nil }
                members.append(JSONMember(name: name, value: value))
            }
            return .object(JSONObject(members))
        default: return nil
        }
    }

    private mutating func fitting(_ items: [Tree], _ array: ArrayShape) -> JSONValue? {
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
        _ members: [(name: ExactText, value: Tree)], _ object: ObjectShape
    ) -> [(name: String, value: Tree, target: MaskTargetID)]? {
        guard members.count >= object.minCount, members.count <= object.maxCount ?? .max else { return nil }
        var byName: [ExactText: Tree] = [:]
        for (name, value) in members { byName[name] = value }
        var parts: [(name: String, value: Tree, target: MaskTargetID)] = []
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
        for (name, value) in members where byName[name] != nil {
            guard let state = free.names.end(of: JSONSpelling.contents(of: name.text)) else { return nil }
            parts.append((name.text, value, free.target(state)))
        }
        return parts
    }

    /// An array or object of an enumeration, whose members may be in any order.
    private func literal(_ tree: Tree, _ text: any ByteAutomaton) -> JSONValue? {
        if text.end(of: TextBuilder.text(of: tree.value)) != nil { return tree.value }
        guard let key = ValueKey(tree.value) else { return nil }
        return literals[ObjectIdentifier(text)]?[key]
    }
}
