import Errors
import JSON
import Regex

/// Applies the schemas of a `Schema` to one instance.
struct Validator {
    /// A step from a value into it.
    enum PathPart {
        case name(String)
        case index(Int)
        /// To the name of a member, not to its value.
        case key(String)
    }

    let schema: Schema
    let assertsFormats: Bool
    /// Whether only the verdict counts: then no violation is noted, and the first one ends the search.
    var isQuiet: Bool
    var path: [PathPart] = []
    var violations: [SchemaViolation] = []
    private var depth = 0
    private(set) var steps = 0
    var verdicts = Verdicts()
    /// The rest of the budget for regular expressions.
    var regexBudget = RegexLimits.visits
    /// The limit that was exceeded. Later verdicts don't count.
    private(set) var limit: SchemaViolation?

    init(_ schema: Schema, assertsFormats: Bool, isQuiet: Bool) {
        self.schema = schema
        self.assertsFormats = assertsFormats
        self.isQuiet = isQuiet
    }

    mutating func run(_ value: JSONValue) -> [SchemaViolation] {
        var evaluated: Evaluated?
        let isValid = apply(schema.root, value, &evaluated)
        if let limit { return [limit] }
        return isValid ? [] : violations
    }

    mutating func isValid(_ value: JSONValue, under id: SchemaID? = nil) -> Bool {
        var evaluated: Evaluated?
        return apply(id ?? schema.root, value, &evaluated) && limit == nil
    }

    // MARK: One schema

    /// - Parameter evaluated: receives the parts that the schema evaluated if the value is valid; nil if unused.
    mutating func apply(_ id: SchemaID, _ value: JSONValue, _ evaluated: inout Evaluated?) -> Bool {
        schema.shared.contains(id) ? recall(id, value, &evaluated) : judge(id, value, &evaluated)
    }

    /// Applies a schema without using known verdicts.
    mutating func judge(_ id: SchemaID, _ value: JSONValue, _ evaluated: inout Evaluated?) -> Bool {
        let node = schema[id]
        depth += 1
        defer { depth -= 1 }
        guard enter(node) else { return false }
        if let verdict = node.rules.verdict {
            return verdict || report(node, nil, "must not be there: the schema is false")
        }
        if node.rules.isNullable, case .null = value { return true }
        let hasUnevaluated = node.rules.array?.unevaluated != nil || node.rules.object?.unevaluated != nil
        var own: Evaluated? = evaluated != nil || hasUnevaluated ? Evaluated() : nil
        var isValid = checkValue(node, value)
        if !isValid, isQuiet { return false }
        isValid = checkParts(node, value, &own) && isValid
        if !isValid, isQuiet { return false }
        if let reference = node.rules.reference { isValid = apply(reference, value, &own) && isValid }
        if !isValid, isQuiet { return false }
        if let combined = node.rules.combined { isValid = check(combined, node, value, &own) && isValid }
        if !isValid, isQuiet { return false }
        if hasUnevaluated { isValid = checkUnevaluated(node, value, &own) && isValid }
        if isValid, let own { evaluated?.add(own) }
        return isValid
    }

    /// Applies a schema without the parts that it evaluates.
    mutating func apply(_ id: SchemaID, _ value: JSONValue) -> Bool {
        var nobody: Evaluated?
        return apply(id, value, &nobody)
    }

    /// Applies a schema to a part of the value.
    mutating func apply(_ id: SchemaID, _ value: JSONValue, at part: PathPart) -> Bool {
        path.append(part)
        let outer = verdicts.goInto(part, of: schema)
        defer {
            path.removeLast()
            verdicts.goBack(to: outer)
        }
        return apply(id, value)
    }

    /// Whether the schema accepts the value, without noting violations.
    mutating func fits(_ id: SchemaID, _ value: JSONValue, _ evaluated: inout Evaluated?) -> Bool {
        let wasQuiet = isQuiet
        isQuiet = true
        defer { isQuiet = wasQuiet }
        return apply(id, value, &evaluated)
    }

    mutating func fits(_ id: SchemaID, _ value: JSONValue) -> Bool {
        var nobody: Evaluated?
        return fits(id, value, &nobody)
    }

    private mutating func checkParts(_ node: SchemaNode, _ value: JSONValue, _ own: inout Evaluated?) -> Bool
    {
        switch value {
        case .array(let elements): node.rules.array.map { check($0, node, elements, &own) } ?? true
        case .object(let members): node.rules.object.map { check($0, node, value, members, &own) } ?? true
        default: true
        }
    }

    // MARK: Limits

    private mutating func enter(_ node: SchemaNode) -> Bool {
        guard depth <= SchemaLimits.applications else {
            exceed(
                "must not nest so deeply: more than \(SchemaLimits.applications) schemas apply within each other",
                node)
            return false
        }
        return spend(1, node)
    }

    /// - Returns: false after too many steps.
    mutating func spend(_ count: Int, _ node: SchemaNode) -> Bool {
        steps += count
        if steps > SchemaLimits.steps {
            exceed(
                "takes more than \(SchemaLimits.steps) steps to validate; use a simpler schema",
                node)
        }
        return limit == nil
    }

    @inline(never)
    mutating func exceed(_ problem: @autoclosure () -> Message, _ node: SchemaNode) {
        guard limit == nil else { return }
        limit = violation(node, nil, problem())
    }

    // MARK: Violations

    /// Notes a violation unless quiet.
    /// - Parameter problem: the words after the place in a sentence.
    /// - Returns: false.
    @inline(never)  // Composing messages takes much of the stack, and callers call each other.
    mutating func report(
        _ node: SchemaNode, _ keyword: String?, _ problem: @autoclosure () -> Message
    ) -> Bool {
        if !isQuiet, violations.count < SchemaLimits.violations, spend(10, node) {
            violations.append(violation(node, keyword, problem()))
        }
        return false
    }

    private func violation(_ node: SchemaNode, _ keyword: String?, _ problem: Message) -> SchemaViolation {
        let pointer = path.map { part in
            switch part {
            case .name(let name): "/" + JSONPointer.escaped(name)
            case .index(let index): "/\(index)"
            case .key: ""
            }
        }.joined()
        let place: Message = pointer.isEmpty ? "the value" : "\(pointer)"
        return SchemaViolation(
            instance: pointer, schema: node.pointer + (keyword.map { "/" + $0 } ?? ""),
            text: place + " " + problem)
    }

    /// A value in a sentence.
    static func shown(_ value: JSONValue) -> Message {
        switch value {
        case .null: "null"
        case .bool(let flag): "\(flag)"
        case .int, .number: ExactNumber(value).map { "\($0)" } ?? "a number"
        case .string(let text):
            text.utf8.count <= 60 ? "\(text.debugDescription)" : "\(text.prefix(50).debugDescription)..."
        case .array(let elements): "a list of \(elements.count)"
        case .object(let members): "an object of \(members.count)"
        }
    }
}
