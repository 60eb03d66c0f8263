import BatchEngine

/// A store as a run uses it, which has one model.
package struct StoredAnswers {
    package let store: AnswerStore
    /// Identity of the model, `RunFingerprint.model`.
    let model: [UInt8]

    /// Nothing is taken or added: all is computed, and compared with what is known.
    let verifies: Bool

    package init(_ store: AnswerStore, model: [UInt8], verifies: Bool = false) {
        (self.store, self.model, self.verifies) = (store, model, verifies)
    }

    /// A request's outcome, if it is known, as the loop would hand it over.
    func answer(
        to request: Request, _ key: RequestKey, for run: JobRun
    ) throws -> (TokenSequence, provenance: [String: String])? {
        guard let record = store.find(key) else { return nil }
        let size = try run.models.loaded().engine.limits.vocabularySize
        guard
            let decoding = request.kind.decoding(record.outcome, after: request.prompt, vocabularySize: size),
            decoding.isDone, decoding.fault == nil
        else {
            store.isUnfit(key)
            return nil
        }
        return (TokenSequence(request, taken: decoding, by: run), record.provenance)
    }
}
