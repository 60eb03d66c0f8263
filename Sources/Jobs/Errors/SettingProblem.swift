/// What is wrong with one value; whoever knows the place makes a `JobError` of it.
struct SettingProblem: Error {
    let message: String
    /// The line of the value at fault, where it is not the setting's own (an element of a list).
    var line: Int?

    init(_ message: String, line: Int? = nil) {
        self.message = message
        self.line = line
    }
}
