/// What an engine has done to keep the beginnings of prompts from one run to the next, since it was last asked.
package struct PrefixReport: Sendable {
    /// Tokens whose keys and values were read instead of being computed, and how many seconds that took.
    package var readTokens = 0
    package var readSeconds = 0.0
    /// What was written for the next run.
    package var writtenTokens = 0
    package var writtenBytes = 0
    /// Why something was not read or written, a sentence's end each. Nothing but speed depends on it.
    package var faults: [String] = []

    package init() {}
}
