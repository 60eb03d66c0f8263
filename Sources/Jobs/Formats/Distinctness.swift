import BatchEngine

/// Condition for a row to duplicate an earlier one that got as far, by a text of each.
public struct Distinctness: Sendable, Equatable {
    /// An expression in the templates' language, such as `question.text`.
    public var text: String
    /// Least similarity of duplicates, estimated by `SimilarTexts`; nil if texts must be equal.
    public var similarity: Double?

    public init(_ text: String, similarity: Double? = nil) {
        (self.text, self.similarity) = (text, similarity)
    }

    static let range = NumberRange(above: 0, to: 1)

    static let mark = "distinct"

    /// Everything that results depend on.
    var parts: [String] { [Self.mark, text, similarity.map { "\($0)" } ?? ""] }
}
