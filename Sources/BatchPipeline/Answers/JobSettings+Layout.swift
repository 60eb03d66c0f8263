import Constraints

extension JobSettings {
    /// How answers in JSON are laid out.
    var answerLayout: AnswerGrammar.Layout { indent.map { .indented($0) } ?? .compact }
}
