extension JobSettings {
    /// Reads the job's lines, whatever they come from.
    /// - Parameters:
    ///   - limit: a longer record is only measured; nil for what counting takes.
    ///   - follow: for an input that is read on while it grows.
    package func inputReader(
        limit: Int? = InputReader.defaultLimit, follow: FollowedInput? = nil
    ) -> InputReader {
        InputReader(paths: input, format: inputFormat.format, limit: limit, follow: follow)
    }
}
