import Faults
import JSONSchema

/// Words in schemas that are no keywords of a draft, but are known to say nothing about values. All others are refused:
/// a misspelt `requried` would silently allow what it is meant to forbid.
enum SchemaAnnotations {
    /// Whoever wants to may have names that begin so: `x-order`, `_comment`, `@context`, `//`.
    private static let prefixes = ["x-", "_", "@", "//", "$$"]

    private static let words: Set<String> = {
        let lists = [
            // Words of later drafts, in schemas of earlier ones.
            "$comment examples deprecated readOnly writeOnly contentEncoding contentMediaType contentSchema",
            "$vocabulary $anchor",
            // OpenAPI.
            "example externalDocs xml discriminator",
            // Hyper-Schema and its kin.
            "links base media self",
            // Editors: VS Code, JetBrains, forms.
            "markdownDescription enumDescriptions markdownEnumDescriptions enumNames enumItemLabels defaultSnippets",
            "errorMessage patternErrorMessage deprecationMessage markdownDeprecationMessage doNotSuggest",
            "suggestSortText allowComments allowTrailingCommas propertyOrder preferredOrder order options",
            "placeholder readonly hidden visible category",
            // Generators of code.
            "tsType tsEnumNames javaType javaInterfaces javaName extendsJavaClass existingJavaType goType faker chance",
            // What people write beside.
            "id name version $version author copyright comment comments alias aliases label unit units since stability",
        ]
        return Set(lists.flatMap { $0.split(separator: " ").map(String.init) })
    }()

    static func contains(_ name: String) -> Bool {
        words.contains(name) || prefixes.contains { name.hasPrefix($0) }
    }

    /// What is wrong with the first word that is neither a keyword nor known here, in a sentence; nil if there is none.
    static func problem(with schema: Schema) -> String? {
        guard let unknown = schema.unknownKeywords.first(where: { !contains($0.name) }) else { return nil }
        let draft = schema[schema.root].draft
        let name = unknown.name.prefix(64)
        if name == "nullable" {
            return "\(unknown.pointer): nullable is OpenAPI's, and no keyword of \(draft.name); "
                + "\"type\": [..., \"null\"] says the same."
        }
        let hint = NearMiss.hint(for: unknown.name, among: draft.keywords)
        return "\(unknown.pointer): \(name) is no keyword of \(draft.name)."
            + (hint.isEmpty ? " A word that says nothing about values is written x-\(name)." : hint)
    }
}
