import Errors
import JSON

/// Values of keywords.
extension SchemaLoader {
    /// A keyword of a schema, with its value.
    struct Keyword {
        let name: String
        let value: JSONValue
        let location: Location
        let parent: Spot
    }

    func fault(_ keyword: Keyword, _ problem: Message) -> ConstraintFault {
        keyword.location.fault(.malformed, problem)
    }

    private func expected(_ what: Message, _ keyword: Keyword) -> ConstraintFault {
        fault(keyword, "must be \(what), but is \(keyword.value.kindName)")
    }

    func text(_ keyword: Keyword) throws(ConstraintFault) -> String {
        guard case .string(let text) = keyword.value else { throw expected("a string", keyword) }
        return text
    }

    func flag(_ keyword: Keyword) throws(ConstraintFault) -> Bool {
        guard case .bool(let flag) = keyword.value else { throw expected("true or false", keyword) }
        return flag
    }

    func number(_ keyword: Keyword) throws(ConstraintFault) -> ExactNumber {
        guard let number = ExactNumber(keyword.value) else { throw expected("a number", keyword) }
        return number
    }

    /// Not negative; `2.0` is also a count.
    func count(_ keyword: Keyword) throws(ConstraintFault) -> Int {
        let number = try number(keyword)
        guard number.isInteger, !number.isNegative else {
            throw fault(keyword, "must be an integer of at least 0")
        }
        // A number too large for Int exceeds every count.
        return number.integer ?? .max
    }

    func list(_ keyword: Keyword) throws(ConstraintFault) -> [JSONValue] {
        guard case .array(let elements) = keyword.value else { throw expected("a list", keyword) }
        return elements
    }

    func members(_ keyword: Keyword) throws(ConstraintFault) -> JSONObject {
        guard case .object(let members) = keyword.value else { throw expected("an object", keyword) }
        return members
    }

    mutating func schema(_ keyword: Keyword) throws(ConstraintFault) -> SchemaID {
        try child(keyword.value, keyword.location, in: keyword.parent)
    }

    mutating func schemaList(_ keyword: Keyword) throws(ConstraintFault) -> [SchemaID] {
        let elements = try list(keyword)
        guard !elements.isEmpty else { throw fault(keyword, "must not be an empty list") }
        var schemas: [SchemaID] = []
        for (index, element) in elements.enumerated() {
            schemas.append(try child(element, keyword.location.child(index), in: keyword.parent))
        }
        return schemas
    }

    mutating func schemas(
        _ keyword: Keyword
    ) throws(ConstraintFault) -> [(name: String, schema: SchemaID, location: Location)] {
        var schemas: [(name: String, schema: SchemaID, location: Location)] = []
        for member in try members(keyword) {
            let location = keyword.location.child(member.name)
            schemas.append((member.name, try child(member.value, location, in: keyword.parent), location))
        }
        return schemas
    }
}
