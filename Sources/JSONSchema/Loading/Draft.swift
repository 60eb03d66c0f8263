/// The supported drafts of JSON Schema, the oldest first.
package enum Draft: Int, Comparable, CaseIterable, Sendable {
    case draft4, draft6, draft7, draft2019, draft2020

    package static func < (a: Draft, b: Draft) -> Bool { a.rawValue < b.rawValue }

    /// The value of `$schema`, without a fragment.
    package var uri: String {
        switch self {
        case .draft4: "http://json-schema.org/draft-04/schema"
        case .draft6: "http://json-schema.org/draft-06/schema"
        case .draft7: "http://json-schema.org/draft-07/schema"
        case .draft2019: "https://json-schema.org/draft/2019-09/schema"
        case .draft2020: "https://json-schema.org/draft/2020-12/schema"
        }
    }

    package var name: String {
        switch self {
        case .draft4: "draft 4"
        case .draft6: "draft 6"
        case .draft7: "draft 7"
        case .draft2019: "2019-09"
        case .draft2020: "2020-12"
        }
    }

    /// The draft that a `$schema` names; an empty fragment and http or https don't matter.
    init?(schema: String) {
        var uri = schema[...]
        if uri.hasSuffix("#") { uri = uri.dropLast() }
        let rest = uri.split(at: ":", max: 1)
        guard rest.count == 2, rest[0] == "http" || rest[0] == "https",
            let draft = Self.allCases.first(where: { $0.uri.hasSuffix(":" + rest[1]) })
        else { return nil }
        self = draft
    }

    var idKeyword: String { self == .draft4 ? "id" : "$id" }

    /// Its keywords, by name.
    package var keywords: [String] { SchemaKeyword.names(in: self) }
    package func knows(_ keyword: String) -> Bool { SchemaKeyword.known(keyword, in: self) != nil }

    /// Whether keywords beside a `$ref` count.
    var readsBesideReference: Bool { self >= .draft2019 }
}
