/// Which rotary factors a sequence has, where a model has two sets (LongRoPE): they are in its keys, so it has the same
/// ones from its first token to its last.
package enum RopeFactors: UInt8, Sendable {
    /// The long ones if it may come to more tokens than the short ones are for.
    case byLength
    case short, long
}
