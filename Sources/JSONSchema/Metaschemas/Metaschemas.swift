/// The metaschemas of the known drafts from json-schema.org (BSD or AFL licence), without parts that change no verdict:
/// comments, titles, defaults and the names of vocabularies.
enum Metaschemas {
    /// - Parameter uri: without a fragment.
    static func text(_ uri: String) -> String? {
        draft4[uri] ?? draft6[uri] ?? draft7[uri] ?? draft2019[uri] ?? draft2020[uri]
    }
}
