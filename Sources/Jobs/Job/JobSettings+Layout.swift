import TokenConstraints

extension JobSettings {
    /// How answers in JSON are laid out.
    package var answerLayout: AnswerGrammar.Layout { request.indent.map { .indented($0) } ?? .compact }
}
