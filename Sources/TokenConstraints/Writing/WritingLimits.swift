extension ConstraintLimits {
    /// Places that one text may be at; beyond, the later ones are passed over.
    static let places = 1_024
    /// Levels of arrays and objects within each other beyond which an answer is brought to its end the shortest way. With
    /// those that this way may take, and those of one token, they stay below what JSON is read with.
    static let depth = 64
    /// Bytes of what must come next that are looked at together.
    static let forcedBytes = 256
    /// Bytes of the tables of one grammar, about. Larger ones begin anew, but for what the texts being written need; those
    /// before them are kept so long.
    static let writerBytes = 20 << 20
    /// Bytes of the masks of one grammar.
    static let maskBytes = 16 << 20
}
