/// What is asked of a loop. It gets its `RequestID` when a loop takes it.
package struct Request: Sendable {
    package var prompt: [Int32]
    package var kind: any RequestKind
    package var rope = RopeFactors.byLength
    /// What the settings that it was made with say of its outcome, `RequestSettings.content`. Nil where nobody says: then
    /// no other request is taken for an equal one.
    package var asked: [UInt8]?
    /// What the source knows it by; the loop doesn't look at it.
    package var label: any Sendable

    package init(prompt: [Int32], kind: any RequestKind, label: any Sendable = ()) {
        self.prompt = prompt
        self.kind = kind
        self.label = label
    }

    /// Tokens that prompt and completion may come to.
    package var ceiling: Int { prompt.count + kind.maxTokens }
}
