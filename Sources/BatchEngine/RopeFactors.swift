/// Choice between a model's two sets of rotary factors (LongRoPE). They are part of the keys, so a sequence keeps one
/// set from its first token to its last.
public enum RopeFactors: String, Sendable, CaseIterable {
    /// The long ones if prompt and `max_tokens` exceed the length that the short ones are for.
    case auto
    case short, long
}
