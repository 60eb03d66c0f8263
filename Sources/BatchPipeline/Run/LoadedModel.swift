import BatchEngine
import PhiModel

/// What a job needs of a model: an engine, and how its text becomes tokens.
public struct LoadedModel: Sendable {
    public let engine: any Engine
    public let text: any TextCoding

    public init(engine: any Engine, text: any TextCoding) {
        self.engine = engine
        self.text = text
    }

    public init(_ engine: PhiEngine) { self.init(engine: engine, text: engine.text) }
}
