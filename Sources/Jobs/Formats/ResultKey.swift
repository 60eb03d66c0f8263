/// Key of a result: one sample of one input line with this exact content.
package struct ResultKey: Hashable, Sendable {
    /// The line's id (its own, or its number as text).
    package var id: String
    /// 0 ..< samples.
    package var sample = 0
    /// Hash of everything in the line that its result depends on (`LineScheme`).
    package var contentHash: UInt64
}
