import Errors
import FoundationShim

/// Words in schemas that are no keywords of a draft, but are known not to constrain values. All others are refused: a
/// misspelt `requried` would silently allow what it should forbid.
extension Schema {
    /// Prefixes of names that are free for any use: `x-order`, `_comment`, `@context`, `//`.
    private static let freePrefixes = ["x-", "_", "@", "//", "$$"]

    private static let annotations: Set<String> = {
        let lists = [
            // Words of later drafts, in schemas of earlier ones.
            "$comment examples deprecated readOnly writeOnly contentEncoding contentMediaType contentSchema",
            "$vocabulary $anchor",
            // OpenAPI.
            "example externalDocs xml discriminator",
            // Schemas of answers and tools for other services.
            "propertyOrdering strict input_examples cache_control",
            // Hyper-Schema and its kin.
            "links base media self",
            // Editors: VS Code, JetBrains, forms.
            "markdownDescription enumDescriptions markdownEnumDescriptions enumNames enumItemLabels defaultSnippets",
            "errorMessage patternErrorMessage deprecationMessage markdownDeprecationMessage doNotSuggest",
            "suggestSortText allowComments allowTrailingCommas propertyOrder preferredOrder order options",
            "placeholder readonly hidden visible category",
            // Code generators.
            "tsType tsEnumNames javaType javaInterfaces javaName extendsJavaClass existingJavaType goType faker chance",
            // Common notes of authors.
            "id name version $version author copyright comment comments alias aliases label unit units since stability",
        ]
        return Set(lists.flatMap { $0.split(at: " ").map(String.init) })
    }()

    /// Notes on ignored words, except obvious private ones.
    package var notesOnAnnotations: [String] {
        var names: [String] = []
        for name in unknownKeywords.map(\.name)
        where Self.annotations.contains(name) && !names.contains(name) { names.append(name) }
        let list = names.joined(separator: ", ")
        return names.isEmpty ? [] : ["\(list): ignored, as it has no effect on values."]
    }

    /// The fault of the first unknown word; nil if there is none.
    package var unknownKeyword: ConstraintFault? {
        let unknown = unknownKeywords.first { word in
            !Self.annotations.contains(word.name) && !Self.freePrefixes.contains { word.name.hasPrefix($0) }
        }
        guard let unknown else { return nil }
        let (draft, name) = (self[root].draft, unknown.name.prefix(64))
        let hint = NearMiss.hint(for: unknown.name, among: draft.keywords)
        return ConstraintFault(
            .malformed, at: unknown.pointer,
            name == "nullable"
                ? "nullable must be true or false"
                : "\(name) is no keyword of \(draft.name)."
                    + (hint.isEmpty ? " Name an annotation x-\(name)." : hint))
    }
}
