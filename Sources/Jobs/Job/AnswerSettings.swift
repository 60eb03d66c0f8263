import JSON

/// The constraint of answers under one of a job's keys.
package struct JobAnswerFormat: Sendable, Equatable {
    package let form: AnswerFormat
    /// The file that holds it; nil if the job does.
    let path: String?

    init(_ form: AnswerFormat, path: String? = nil) { (self.form, self.path) = (form, path) }

    /// Returns the beginning of a message about it.
    func place(_ key: String) -> String { path.map { "\(key) \($0)" } ?? key }
}

/// A JSON Schema that answers follow.
public struct AnswerSchema: Sendable, Equatable {
    let asked: JobAnswerFormat
}

extension AnswerSchema {
    /// - Parameter json: the schema as JSON text. Its keywords are checked when a job begins.
    /// - Throws: `UserError` if the text is no JSON, or neither an object nor true or false.
    public init(_ json: String) throws {
        do throws(SettingProblem) {
            self.init(try AnswerFormat(schema: JSONValue(ofFile: Array(json.utf8))))
        } catch {
            throw UserError(.badJob, "The schema \(error.message).")
        }
    }

    init(_ form: AnswerFormat) { self.init(asked: JobAnswerFormat(form)) }
}

/// A form of answers as in OpenAI's API.
public struct ResponseFormat: Sendable, Equatable {
    let asked: JobAnswerFormat

    /// Any text; overrides lines.
    public static let text = ResponseFormat(asked: JobAnswerFormat(.text))
    /// A JSON object.
    public static let jsonObject = ResponseFormat(asked: JobAnswerFormat(AnswerFormat(.object)))
}

/// At most one of these is set, besides `tools`; each overrides a line's own.
extension JobSettings {
    /// A JSON Schema that all answers follow.
    public var schema: AnswerSchema? {
        get { forms[AnswerKey.schema.name].map(AnswerSchema.init(asked:)) }
        set { forms[AnswerKey.schema.name] = newValue?.asked }
    }
    /// The form of all answers, as in OpenAI's API.
    public var responseFormat: ResponseFormat? {
        get { forms[AnswerKey.responseFormat.name].map(ResponseFormat.init(asked:)) }
        set { forms[AnswerKey.responseFormat.name] = newValue?.asked }
    }
    /// A regular expression of ECMA-262 that matches whole answers; lookahead may only begin it.
    public var regex: String? {
        get { forms[AnswerKey.regex.name]?.form.text }
        set { forms[AnswerKey.regex.name] = newValue.map { JobAnswerFormat(AnswerFormat(.regex($0))) } }
    }
    /// A context-free grammar that answers follow, in llama.cpp's GBNF; checked when a job begins.
    public var grammar: String? {
        get { forms[AnswerKey.grammar.name]?.form.text }
        set { forms[AnswerKey.grammar.name] = newValue.map { JobAnswerFormat(AnswerFormat(.grammar($0))) } }
    }
}

extension JobSettings {
    /// The keys of constraints that are set.
    var answerFormats: [(key: String, asked: JobAnswerFormat)] {
        AnswerKey.names.compactMap { name in forms[name].map { (name, $0) } }
    }

    /// The constraint of the job's answers; nil if lines decide.
    package var answerFormat: AnswerFormat? { AnswerFormat.together(answerFormats.map(\.asked.form)) }

    /// The beginning of a message about the job's constraint.
    var answerPlace: String {
        let places = answerFormats.map { $1.place($0) }
        return places.isEmpty ? "the form of answers" : places.joined(separator: " and ")
    }

    /// A constraint that is invalid, or conflicts with another setting, as a sentence of its own; nil if all is well.
    var answerProblem: String? {
        let keys = answerFormats.map(\.key).filter { $0 != AnswerKey.tools.name }
        if keys.count > 1 { return "\(keys[0]) and \(keys[1]) both constrain answers; keep one." }
        guard let form = answerFormat, form.isConstraint else { return nil }
        if let other = request.formConflict(mayStop: form.isOfCalls) {
            return
                "\(other.name) can't be combined with \(keys.first ?? AnswerKey.tools.name): \(other.reason)."
        }
        if let tools = form.rule as? ToolsRule {
            do throws(SettingProblem) { _ = try tools.choosing(request.toolChoice, atMost: nil) } catch {
                return "tool_choice \(error.message)"
            }
        }
        for (key, asked) in answerFormats where asked.form.isConstraint {
            do throws(SettingProblem) { _ = try asked.form.checked() } catch {
                return "\(asked.place(key)) can't be used: \(error.message)"
            }
        }
        return nil
    }

    /// Checks, before a model is loaded, that any answer meets the job's constraint.
    /// - Throws: `UserError`.
    func checkAnswers() throws {
        for step in steps { try step.job(in: self).checkAnswers() }
        for (_, asked) in answerFormats where asked.form.isConstraint {
            do throws(SettingProblem) {
                _ = try asked.form.checked().grammar(answerLayout, .ofBytes)
            } catch {
                throw answersCantBe(error)
            }
        }
    }

    package func answersCantBe(_ fault: SettingProblem) -> UserError {
        UserError(.badJob, "\(answerPlace) can't be used: \(fault.message)")
    }
}
