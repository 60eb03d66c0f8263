import JSON

extension SchemaLoader {
    mutating func readArray(
        _ keyword: Keyword, _ members: JSONObject, _ draft: Draft, _ rules: inout Shared<ArrayRules>?
    ) throws(ConstraintFault) {
        var array = rules?.rules ?? ArrayRules()
        switch keyword.name {
        case "prefixItems": array.prefix = try schemaList(keyword)
        case "items":
            guard case .array(let elements) = keyword.value else {
                array.rest = try schema(keyword)
                break
            }
            guard draft < .draft2020 else {
                throw fault(
                    keyword,
                    "must be one schema in \(draft.name); a list of them is prefixItems (or set $schema to an older draft)"
                )
            }
            if !elements.isEmpty { array.prefix = try schemaList(keyword) }
        case "additionalItems":
            let schema = try schema(keyword)
            // It only counts after a list.
            guard case .array? = members["items"] else { break }
            array.rest = schema
        case "contains": array.contains = try schema(keyword)
        case "minContains": array.minContains = try count(keyword)
        case "maxContains": array.maxContains = try count(keyword)
        case "minItems": array.minItems = try count(keyword)
        case "maxItems": array.maxItems = try count(keyword)
        case "uniqueItems": array.isUnique = try flag(keyword)
        default: array.unevaluated = try schema(keyword)
        }
        rules = Shared(array)
    }

    mutating func readObject(
        _ keyword: Keyword, _ draft: Draft, _ rules: inout Shared<ObjectRules>?
    ) throws(ConstraintFault) {
        var object = rules?.rules ?? ObjectRules()
        switch keyword.name {
        case "properties":
            object.hasProperties = true
            for (name, schema, _) in try schemas(keyword) { object.add(name, schema) }
        case "patternProperties":
            for (name, schema, location) in try schemas(keyword) {
                object.patterns.append((try regex(name, location), schema))
            }
        case "additionalProperties": object.additional = try schema(keyword)
        case "propertyNames": object.names = try schema(keyword)
        case "required": object.required = try names(keyword.value, keyword.location)
        case "minProperties": object.minProperties = try count(keyword)
        case "maxProperties": object.maxProperties = try count(keyword)
        case "unevaluatedProperties": object.unevaluated = try schema(keyword)
        case "dependentSchemas":
            object.dependentSchemas += try schemas(keyword).map { ($0.name, $0.schema, keyword.name) }
        case "dependentRequired":
            for member in try members(keyword) {
                let needed = try names(member.value, keyword.location.child(member.name))
                object.dependentRequired.append((member.name, needed, keyword.name))
            }
        default:
            for member in try members(keyword) {
                let location = keyword.location.child(member.name)
                if case .array = member.value {
                    object.dependentRequired.append(
                        (member.name, try names(member.value, location), keyword.name))
                } else {
                    let schema = try child(member.value, location, in: keyword.parent)
                    object.dependentSchemas.append((member.name, schema, keyword.name))
                }
            }
        }
        rules = Shared(object)
    }

    private func names(_ value: JSONValue, _ location: Location) throws(ConstraintFault) -> [String] {
        guard case .array(let elements) = value else {
            throw location.fault(.malformed, "must be a list of names, but is \(value.kindName)")
        }
        var names: [String] = []
        for element in elements {
            guard case .string(let name) = element else {
                throw location.fault(.malformed, "must be a list of names, but holds \(element.kindName)")
            }
            names.append(name)
        }
        return names
    }
}
