/// The form of a keyword's value, and the drafts that know the keyword.
struct SchemaKeyword: Sendable {
    enum Shape: Sendable {
        /// No schemas.
        case value
        /// About the schema; no effect on instances.
        case annotation
        case schema, schemaList, schemaMap
        /// A schema, or a list of them.
        case schemaOrList
        /// Like a map, but lists of names may replace schemas.
        case dependencies
    }

    let shape: Shape
    let drafts: ClosedRange<Draft>

    static func known(_ name: String, in draft: Draft) -> Shape? {
        guard let keyword = all[name], keyword.drafts.contains(draft) else { return nil }
        return keyword.shape
    }

    static func names(in draft: Draft) -> [String] {
        all.filter { $0.value.drafts.contains(draft) }.map(\.key).sorted()
    }

    private static let all: [String: SchemaKeyword] = {
        var all: [String: SchemaKeyword] = [:]
        func add(_ names: String, _ shape: Shape, from first: Draft = .draft4, to last: Draft = .draft2020) {
            for name in names.split(at: " ") {
                all[String(name)] = SchemaKeyword(shape: shape, drafts: first...last)
            }
        }
        add("$ref $schema type enum multipleOf maximum exclusiveMaximum minimum exclusiveMinimum", .value)
        add("maxLength minLength pattern maxItems minItems uniqueItems", .value)
        add("maxProperties minProperties required format", .value)
        add("id", .value, to: .draft4)
        add("$id const", .value, from: .draft6)
        add("$anchor maxContains minContains dependentRequired", .value, from: .draft2019)
        add("$recursiveRef $recursiveAnchor", .value, from: .draft2019, to: .draft2019)
        add("$dynamicRef $dynamicAnchor", .value, from: .draft2020)

        add("title description default", .annotation)
        add("examples", .annotation, from: .draft6)
        add("$comment readOnly writeOnly contentEncoding contentMediaType", .annotation, from: .draft7)
        add("deprecated $vocabulary", .annotation, from: .draft2019)

        add("not additionalProperties", .schema)
        add("allOf anyOf oneOf", .schemaList)
        // Later drafts keep `definitions` and `dependencies` for old schemas, and `$defs` is common in older ones.
        add("properties patternProperties definitions $defs", .schemaMap)
        add("dependencies", .dependencies)
        add("additionalItems", .schema, to: .draft2019)
        add("items", .schemaOrList)
        add("contains propertyNames", .schema, from: .draft6)
        add("if then else", .schema, from: .draft7)
        add("unevaluatedItems unevaluatedProperties contentSchema", .schema, from: .draft2019)
        add("dependentSchemas", .schemaMap, from: .draft2019)
        add("prefixItems", .schemaList, from: .draft2020)
        return all
    }()
}
