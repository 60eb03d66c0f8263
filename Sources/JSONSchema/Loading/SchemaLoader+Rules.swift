import Errors
import FoundationShim
import JSON

extension SchemaLoader {
    /// Reads the keywords of one schema.
    mutating func rules(_ place: Spot, _ draft: Draft) throws(ConstraintFault) -> SchemaRules {
        var rules = SchemaRules()
        switch place.value {
        case .bool(let verdict):
            rules.verdict = verdict
            return rules
        case .object(let members):
            let isReference = !draft.readsBesideReference && members["$ref"] != nil
            for member in members {
                let shape = SchemaKeyword.known(member.name, in: draft)
                let location = place.location.child(member.name)
                if isReference, member.name != "$ref" {
                    note(ignored: member.name, shape, location)
                } else if readsNullable, member.name == "nullable", case .bool(let flag) = member.value {
                    rules.isNullable = flag
                } else if shape == nil {
                    unknownKeywords.append(
                        SchemaMention(name: member.name, pointer: location.shown))
                } else {
                    let keyword = Keyword(
                        name: member.name, value: member.value, location: location, parent: place)
                    try read(keyword, members, draft, &rules)
                }
            }
            return rules
        default:
            throw place.location.fault(
                .malformed, "must be an object\(draft >= .draft6 ? ", true or false" : "")")
        }
    }

    /// Annotations and definitions keep their effect beside a reference.
    private mutating func note(ignored name: String, _ shape: SchemaKeyword.Shape?, _ location: Location) {
        if case .annotation? = shape { return }
        guard !["$id", "id", "definitions", "$defs"].contains(name) else { return }
        ignoredKeywords.append(SchemaMention(name: name, pointer: location.shown))
    }

    private mutating func read(
        _ keyword: Keyword, _ members: JSONObject, _ draft: Draft, _ rules: inout SchemaRules
    ) throws(ConstraintFault) {
        switch keyword.name {
        case "$ref": rules.reference = try reference(keyword)
        case "$dynamicRef", "$recursiveRef":
            throw keyword.location.fault(.unusable, "\(keyword.name) is not supported; use $ref")
        case "$id", "id", "$anchor", "$dynamicAnchor": _ = try text(keyword)
        case "$schema":
            // Only a schema with its own URI may have another draft.
            if Draft(schema: try text(keyword)) != draft {
                note(ignored: keyword.name, nil, keyword.location)
            }
        case "$recursiveAnchor": _ = try flag(keyword)
        case "type": rules.types = try types(keyword)
        case "const": rules.constant = try values([keyword.value], keyword)
        case "enum": rules.enumeration = try values(try list(keyword), keyword)
        case "multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
            try readNumber(keyword, members, draft, &rules.number)
        case "minLength", "maxLength", "pattern", "format": try readString(keyword, &rules.string)
        case "items", "prefixItems", "additionalItems", "contains", "minContains", "maxContains", "minItems",
            "maxItems", "uniqueItems", "unevaluatedItems":
            try readArray(keyword, members, draft, &rules.array)
        case "properties", "patternProperties", "additionalProperties", "propertyNames", "required",
            "minProperties", "maxProperties", "dependentRequired", "dependentSchemas", "dependencies",
            "unevaluatedProperties":
            try readObject(keyword, draft, &rules.object)
        case "allOf", "anyOf", "oneOf", "not", "if", "then", "else":
            try readCombined(keyword, &rules.combined)
        // Definitions without references are not read: they have no effect.
        case "definitions", "$defs": _ = try self.members(keyword)
        default: break
        }
    }

    private func types(_ keyword: Keyword) throws(ConstraintFault) -> JSONTypes {
        var names: [JSONValue] = [keyword.value]
        if case .array(let elements) = keyword.value { names = elements }
        var types: JSONTypes = []
        for name in names {
            guard case .string(let text) = name, let type = JSONTypes(name: text) else {
                var hint = ""
                if case .string(let text) = name {
                    hint = NearMiss.hint(for: text, among: JSONTypes.allNames)
                }
                throw fault(
                    keyword,
                    "must be of \(JSONTypes.allNames.joined(separator: ", ")), or a list of those.\(hint)")
            }
            types.formUnion(type)
        }
        guard !names.isEmpty else { throw fault(keyword, "must not be an empty list") }
        return types
    }

    private func values(_ values: [JSONValue], _ keyword: Keyword) throws(ConstraintFault) -> ValueSet {
        guard let set = ValueSet(values) else {
            throw keyword.location.fault(.tooLarge, "holds a value that is nested too deeply")
        }
        return set
    }

    private mutating func readNumber(
        _ keyword: Keyword, _ members: JSONObject, _ draft: Draft, _ rules: inout Shared<NumberRules>?
    ) throws(ConstraintFault) {
        var number = rules?.rules ?? NumberRules()
        switch keyword.name {
        case "multipleOf":
            let value = try self.number(keyword)
            guard !value.isNegative, !value.isZero, value.significand != nil else {
                throw fault(keyword, "must be greater than 0, and have at most 19 digits")
            }
            number.multipleOf = value
        case "exclusiveMinimum", "exclusiveMaximum":
            guard draft > .draft4 else {
                _ = try flag(keyword)
                return
            }
            if case .bool = keyword.value {
                throw fault(
                    keyword,
                    "must be a number in \(draft.name); for true and false as in draft 4 set $schema to \(Draft.draft4.uri)#"
                )
            }
            let value = try self.number(keyword)
            if keyword.name == "exclusiveMinimum" {
                number.exclusiveMinimum = value
            } else {
                number.exclusiveMaximum = value
            }
        case "minimum":
            let isExclusive = draft == .draft4 && members["exclusiveMinimum"] == .bool(true)
            let value = try self.number(keyword)
            if isExclusive { number.exclusiveMinimum = value } else { number.minimum = value }
        default:
            let isExclusive = draft == .draft4 && members["exclusiveMaximum"] == .bool(true)
            let value = try self.number(keyword)
            if isExclusive { number.exclusiveMaximum = value } else { number.maximum = value }
        }
        rules = Shared(number)
    }

    private mutating func readString(_ keyword: Keyword, _ rules: inout Shared<StringRules>?)
        throws(ConstraintFault)
    {
        var string = rules?.rules ?? StringRules()
        switch keyword.name {
        case "minLength": string.minLength = try count(keyword)
        case "maxLength": string.maxLength = try count(keyword)
        case "pattern": string.pattern = try regex(try text(keyword), keyword.location)
        default:
            let format = try text(keyword)
            string.format = format
            if !Formats.names.contains(format) {
                unknownFormats.append(SchemaMention(name: format, pointer: keyword.location.shown))
            }
        }
        rules = Shared(string)
    }

    private mutating func readCombined(_ keyword: Keyword, _ rules: inout Shared<CombinedRules>?)
        throws(ConstraintFault)
    {
        var combined = rules?.rules ?? CombinedRules()
        switch keyword.name {
        case "allOf": combined.allOf = try schemaList(keyword)
        case "anyOf": combined.anyOf = try schemaList(keyword)
        case "oneOf": combined.oneOf = try schemaList(keyword)
        case "not": combined.not = try schema(keyword)
        case "if": combined.condition = try schema(keyword)
        case "then": combined.then = try schema(keyword)
        default: combined.otherwise = try schema(keyword)
        }
        rules = Shared(combined)
    }
}
