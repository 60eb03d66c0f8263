extension JobSettings {
    /// Reads the job's lines, or makes them.
    /// - Parameters:
    ///   - limit: a longer record is only measured; nil for what counting takes.
    ///   - follow: for an input that is read on while it grows.
    package func inputReader(
        limit: Int? = InputReader.defaultLimit, follow: FollowedInput? = nil
    ) -> InputReader {
        if let rows = madeRows(limit: limit ?? InputReader.defaultLimit) {
            return InputReader(cursor: rows, name: MadeRows.name)
        }
        return InputReader(paths: input, format: inputFormat.format, limit: limit, follow: follow)
    }
}
