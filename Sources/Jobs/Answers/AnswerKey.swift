import JSON

/// A key of jobs, and a field of lines, that constrains answers: a value beside its rule, and its place in `all`.
package struct AnswerKey: Sendable {
    let name: String
    /// Placeholder of its value in the list of options, and its help.
    let placeholder, help: String
    /// File that a job may name in place of the value, in words of messages; nil if there is none.
    var file: String?
    /// Form of the value.
    var valueForm = SettingForm.text
    /// Valid values, for messages.
    let right: String
    /// Whether a line's field of that name is meant. If not, it is data.
    var isAsked: @Sendable (_ field: JSONValue) -> Bool = { _ in true }
    /// Returns a job's value as one of a line.
    var ofJob: @Sendable (_ value: JSONValue, _ isOption: Bool) throws(SettingProblem) -> JSONValue = {
        value, _ in value
    }
    /// - Throws: the problem in words that follow the name.
    var ofFile: (@Sendable ([UInt8]) throws(SettingProblem) -> AnswerFormat)?
    /// - Throws: the problem in words that follow the name.
    /// - Returns: nil if it is none of the valid values.
    let read: @Sendable (JSONValue) throws(SettingProblem) -> AnswerFormat?

    static let all = [responseFormat, schema, regex, grammar, jsonMode, tools]
    package static let names = all.map(\.name)

    static func named(_ name: String) -> AnswerKey? { all.first { $0.name == name } }

    /// - Throws: the problem in words that follow the name.
    func form(ofLine field: JSONValue) throws(SettingProblem) -> AnswerFormat {
        guard let form = try read(field) else { throw field.wrong(right) }
        return form
    }

    /// - Parameter isOption: whether it is text from the command line.
    /// - Returns: nil if it names a file.
    /// - Throws: the problem in words that follow the name.
    func form(ofJob value: JSONValue, isOption: Bool) throws(SettingProblem) -> AnswerFormat? {
        if isAsked(value), let form = try read(ofJob(value, isOption)) { return form }
        if file == nil { throw value.wrong(right) }
        return nil
    }
}
