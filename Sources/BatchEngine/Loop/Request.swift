/// What is asked of a loop. It gets its `RequestID` when a loop takes it.
package struct Request: Sendable {
    package var prompt: [Int32]
    package var goal: any Goal
    package var rope = RopeFactors.byLength
    /// What the source knows it by; the loop doesn't look at it.
    package var label: any Sendable

    package init(prompt: [Int32], goal: any Goal, label: any Sendable = ()) {
        self.prompt = prompt
        self.goal = goal
        self.label = label
    }

    /// Tokens that prompt and completion may come to.
    var ceiling: Int { prompt.count + goal.maxTokens }
}
