import JSON

/// Verdicts on parts of one instance by schemas with several references, so that each part is checked by each of them
/// once.
struct Verdicts {
    struct Key: Hashable {
        let schema: SchemaID
        /// The number of the part.
        let value: Int
        let isQuiet: Bool
        /// Whether the parts that the schema evaluated are needed.
        let isAsked: Bool
    }

    struct Verdict {
        let isValid: Bool
        let evaluated: Evaluated?
        let violations: [SchemaViolation]

        fileprivate var weight: Int { 1 + violations.count + (evaluated?.count ?? 0) }
    }

    /// A step from a part into it. Names differ if their bytes do.
    private struct Step: Hashable {
        let value: Int
        let index: Int
        let name: [UInt8]
    }

    /// The size from which all is dropped.
    private static let mostWeight = 1 << 18

    private var known: [Key: Verdict] = [:]
    private var weight = 0
    private var numbers: [Step: Int] = [:]
    /// The number of the current part.
    private(set) var value = 0

    subscript(key: Key) -> Verdict? { known[key] }

    mutating func note(_ verdict: Verdict, _ key: Key) {
        weight += verdict.weight
        if weight > Self.mostWeight {
            known = [:]
            weight = verdict.weight
        }
        known[key] = verdict
    }

    /// - Returns: the part to return to.
    mutating func goInto(_ part: Validator.PathPart, of schema: Schema) -> Int {
        // Without such schemas the number is unused.
        guard !schema.shared.isEmpty else { return value }
        let step =
            switch part {
            case .index(let index): Step(value: value, index: index, name: [])
            case .name(let name): Step(value: value, index: -1, name: Array(name.utf8))
            case .key(let name): Step(value: value, index: -2, name: Array(name.utf8))
            }
        let outer = value
        value = numbers[step] ?? numbers.count + 1
        numbers[step] = value
        return outer
    }

    mutating func goBack(to outer: Int) { value = outer }
}

extension Validator {
    /// Applies a schema with several references.
    mutating func recall(_ id: SchemaID, _ value: JSONValue, _ evaluated: inout Evaluated?) -> Bool {
        let key = Verdicts.Key(
            schema: id, value: verdicts.value, isQuiet: isQuiet, isAsked: evaluated != nil)
        if let known = verdicts[key] {
            guard spend(1, schema[id]) else { return false }
            if let own = known.evaluated { evaluated?.add(own) }
            add(known.violations)
            return known.isValid
        }
        let noted = violations
        violations = []
        var own: Evaluated? = evaluated == nil ? nil : Evaluated()
        let isValid = judge(id, value, &own)
        if !isValid { own = nil }
        if let own { evaluated?.add(own) }
        // Beyond a limit nothing is certain.
        if limit == nil {
            verdicts.note(.init(isValid: isValid, evaluated: own, violations: violations), key)
        }
        let found = violations
        violations = noted
        add(found)
        return isValid
    }

    private mutating func add(_ more: [SchemaViolation]) {
        violations += more.prefix(max(0, SchemaLimits.violations - violations.count))
    }
}
