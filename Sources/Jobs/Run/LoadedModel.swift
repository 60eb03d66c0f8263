import BatchEngine
import PhiText

/// What a job needs of a model: an engine, and how its text becomes tokens.
package struct LoadedModel: Sendable {
    package let engine: any Engine
    package let text: any TextCoding
    /// Forms of answers, compiled for it.
    package let grammars: AnswerGrammars

    package init(engine: any Engine, text: any TextCoding) {
        self.engine = engine
        self.text = text
        grammars = AnswerGrammars(text: text, limits: engine.limits)
    }
}
