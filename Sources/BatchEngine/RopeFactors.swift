/// Choice between a model's two sets of rotary factors (LongRoPE). They are part of the keys, so a sequence keeps one
/// set from its first token to its last.
package enum RopeFactors: UInt8, Sendable {
    /// Long if the sequence may grow beyond the length that the short ones are for.
    case byLength
    case short, long
}
