/// Why answers can't be made as a job or a line asks for them.
package struct AnswerFault: Error, Equatable {
    /// A sentence or two, with a JSON pointer to the place in a schema.
    let message: String

    init(_ message: String) { self.message = message }
}
