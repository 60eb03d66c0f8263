/// A request to a loop.
package struct Request: Sendable {
    package var prompt: [Int32]
    package var kind: any RequestKind { didSet { key = nil } }
    package var rope = RopeFactors.auto
    /// Beginning of its completion, made by an earlier run. It comes from a file, and is dropped if it can't be this
    /// request's.
    package var saved: SavedDecoding?
    /// Digest of the settings that its outcome depends on, `RequestSettings.content`. Nil if unknown; then no request
    /// counts as equal.
    package var asked: [UInt8]?
    /// Identity among requests; nil if it is unknown, or not needed.
    package var key: RequestKey?
    /// Number by which its source knows it; the loop ignores it.
    package var number: Int

    package init(prompt: [Int32], kind: any RequestKind, number: Int = -1) {
        (self.prompt, self.kind, self.number) = (prompt, kind, number)
    }

    /// The most tokens of prompt and completion together.
    package var ceiling: Int { prompt.count + kind.maxTokens }
}
