extension ConstraintLimits {
    /// Places that one text may be at; beyond, the later ones are passed over.
    static let places = 1_024
    /// Bytes of what must come next that are looked at together.
    static let forcedBytes = 256
    /// Bytes of the tables of one grammar, about. Larger ones begin anew.
    static let writerBytes = 32 << 20
}
