extension ConstraintLimits {
    /// Places that one text may be at; beyond, the later ones are dropped.
    static let places = 1_024
    /// Levels of nested arrays and objects beyond which an answer ends the shortest way. With those of this way, and of
    /// one token, they stay below the limit of reading JSON.
    static let depth = 64
    /// Bytes of forced text that are found together.
    static let forcedBytes = 256
    /// The approximate bytes of a grammar's tables. Larger ones serve the answers that have begun with them, and no new ones.
    static let writerBytes = 20 << 20
    /// Bytes of the masks of one grammar.
    static let maskBytes = 16 << 20
}
