/// Bounds on time and memory, as schemas come from strangers. Those of regular expressions are in `RegexLimits`.
package enum SchemaLimits {
    /// Levels of nesting of a schema document.
    package static let depth = 256
    /// Nested schemas, including those referred to.
    package static let nodes = 200_000
    /// States of all regular expressions together.
    package static let regexStates = 4_000_000
    /// Nested applications of schemas to an instance and its parts. Real ones stay below 100; one takes about 1 KB of
    /// the stack.
    package static let applications = 400
    /// Steps of validating one instance: a schema applied, a member or some text read, and so on (some seconds).
    package static let steps = 10_000_000
    /// Violations listed.
    package static let violations = 100
}
