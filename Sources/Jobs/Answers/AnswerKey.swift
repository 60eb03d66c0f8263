import JSON

/// A key of jobs, and a field of lines, that constrains answers. Each is a type and a line in `AnswerKeys.all`; most
/// are rules (`AnswerRule`).
protocol AnswerKey: Sendable {
    static var name: String { get }
    /// Placeholder of its value in the list of options, and its help.
    static var placeholder: String { get }
    static var help: String { get }
    /// File that a job may name in place of the value, in words of messages; nil, the default, if there is none.
    static var file: String? { get }
    /// Form of the value; a text by default.
    static var valueForm: SettingForm { get }

    /// Whether a line's field of that name is meant; true by default. If not, it is data.
    static func isAsked(by field: JSONValue) -> Bool
    /// - Throws: the problem in words that follow the name; so do the others.
    static func form(ofLine field: JSONValue) throws(SettingProblem) -> AnswerFormat
    /// - Parameter isOption: whether it is text from the command line.
    /// - Returns: nil if it names a file.
    static func form(ofJob value: JSONValue, isOption: Bool) throws(SettingProblem) -> AnswerFormat?
    static func form(ofFile contents: [UInt8]) throws(SettingProblem) -> AnswerFormat
}

extension AnswerKey {
    static var file: String? { nil }
    static var valueForm: SettingForm { .text }
    static func isAsked(by field: JSONValue) -> Bool { true }
    static func form(ofFile contents: [UInt8]) throws(SettingProblem) -> AnswerFormat {
        preconditionFailure("a job names no file as \(name)")
    }
}

package enum AnswerKeys {
    static let all: [any AnswerKey.Type] = [
        ResponseFormatKey.self, SchemaRule.self, RegexRule.self, GrammarRule.self, JSONModeRule.self,
        ToolsRule.self,
    ]

    package static var names: [String] { all.map { $0.name } }

    static func named(_ name: String) -> (any AnswerKey.Type)? { all.first { $0.name == name } }
}
