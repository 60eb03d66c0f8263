extension JobSettings {
    /// Reads the job's lines, or makes them.
    /// - Parameters:
    ///   - limit: a longer record is only measured; nil for what counting takes.
    ///   - columns: fields that are looked at; nil for all.
    ///   - follow: for an input that is read on while it grows.
    package func inputReader(
        limit: Int? = InputReader.defaultLimit, columns: Set<String>? = nil, follow: FollowedInput? = nil
    ) -> InputReader {
        if let rows = madeRows(limit: limit ?? InputReader.defaultLimit) {
            return InputReader(cursor: rows, name: MadeRows.name)
        }
        return InputReader(
            paths: input, format: inputFormat.format, limit: limit, columns: columns, follow: follow)
    }
}
