import BatchEngine

/// When a row is too much like an earlier one: a step may compare a text of each row that gets so far.
public struct Distinctness: Sendable, Equatable {
    /// An expression in the template language, such as `question.text`.
    public var text: String
    /// From which similarity on two texts are alike, estimated by `MinHash`; nil where they must be equal.
    public var similarity: Double?

    public init(_ text: String, similarity: Double? = nil) {
        (self.text, self.similarity) = (text, similarity)
    }

    static let range = NumberRange(above: 0, to: 1)

    static let mark = "distinct"

    /// All that results depend on.
    var parts: [String] { [Self.mark, text, similarity.map { "\($0)" } ?? ""] }
}
