import Testing

extension Tag {
    /// Runs a real model, mostly by the real program: seconds, where others take milliseconds.
    @Tag static var slow: Self
}
