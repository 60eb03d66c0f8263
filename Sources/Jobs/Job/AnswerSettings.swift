import JSON

/// What a job says of answers with one of its keys.
package struct AskedForm: Sendable, Equatable {
    package let form: AnswerForm
    /// The file it is from; nil if there is none.
    let path: String?

    init(_ form: AnswerForm, path: String? = nil) { (self.form, self.path) = (form, path) }

    /// How it begins a message.
    func place(_ key: String) -> String { path.map { "\(key) \($0)" } ?? key }
}

/// A JSON Schema that answers follow.
public struct AnswerSchema: Sendable, Equatable {
    let asked: AskedForm
}

extension AnswerSchema {
    /// - Parameter json: the schema as JSON text. What it says is looked at when a job begins.
    /// - Throws: `UserError` if the text is no JSON, or neither an object nor true or false.
    public init(_ json: String) throws {
        do throws(SettingProblem) { self.init(try SchemaRule.form(ofFile: Array(json.utf8))) } catch {
            throw UserError(.badJob, "The schema \(error.message).")
        }
    }

    init(_ form: AnswerForm) { self.init(asked: AskedForm(form)) }
}

/// What answers are like, as OpenAI's API asks for it.
public struct ResponseFormat: Sendable, Equatable {
    let asked: AskedForm

    /// Any text, whatever lines ask for.
    public static let text = ResponseFormat(asked: AskedForm(.text))
    /// A JSON object.
    public static let jsonObject = ResponseFormat(asked: AskedForm(AnswerForm(.object)))
}

/// At most one of these is given, and `tools` beside it; each goes before what a line asks for.
extension JobSettings {
    /// A JSON Schema that all answers follow.
    public var schema: AnswerSchema? {
        get { forms[SchemaRule.name].map(AnswerSchema.init(asked:)) }
        set { forms[SchemaRule.name] = newValue?.asked }
    }
    /// What answers are like, as OpenAI's API says it.
    public var responseFormat: ResponseFormat? {
        get { forms[ResponseFormatKey.name].map(ResponseFormat.init(asked:)) }
        set { forms[ResponseFormatKey.name] = newValue?.asked }
    }
    /// A regular expression of ECMA-262, with lookahead at its beginning alone, that matches answers as a whole.
    public var regex: String? {
        get { forms[RegexRule.name]?.form.text }
        set { forms[RegexRule.name] = newValue.map { AskedForm(AnswerForm(.regex($0))) } }
    }
    /// A context-free grammar that answers follow: the text of GBNF as llama.cpp has it, looked at when a job begins.
    public var grammar: String? {
        get { forms[GrammarRule.name]?.form.text }
        set { forms[GrammarRule.name] = newValue.map { AskedForm(AnswerForm(.grammar($0))) } }
    }
}

extension JobSettings {
    /// The keys that say what answers are like, as far as they are given.
    var askedForms: [(key: String, asked: AskedForm)] {
        AnswerKeys.names.compactMap { name in forms[name].map { (name, $0) } }
    }

    /// What the job asks of answers; nil if it leaves that to lines.
    package var answerForm: AnswerForm? { AnswerForm.together(askedForms.map(\.asked.form)) }

    /// How the job's form of answers begins a message.
    var answerPlace: String {
        let places = askedForms.map { $1.place($0) }
        return places.isEmpty ? "the form of answers" : places.joined(separator: " and ")
    }

    /// What of the form of answers doesn't go with other settings, or can't be; in words that follow nothing, nil if
    /// all is well.
    var answerProblem: String? {
        let keys = askedForms.map(\.key).filter { $0 != ToolsRule.name }
        if keys.count > 1 { return "\(keys[0]) and \(keys[1]) both say what answers are like; keep one." }
        guard let form = answerForm, form.isConstraint else { return nil }
        if let other = request.formConflict(mayStop: form.isOfCalls) {
            return
                "\(other.name) can't be combined with \(keys.first ?? ToolsRule.name): \(other.reason)."
        }
        if let tools = form.rule as? ToolsRule {
            do throws(SettingProblem) { _ = try tools.choosing(request.toolChoice, atMost: nil) } catch {
                return "tool_choice \(error.message)"
            }
        }
        for (key, asked) in askedForms where asked.form.isConstraint {
            do throws(AnswerFault) { _ = try asked.form.checked() } catch {
                return "\(asked.place(key)) can't be used: \(error.message)"
            }
        }
        return nil
    }

    /// Whether there is any answer of the job's form, found before a model is there.
    /// - Throws: `UserError`.
    func checkAnswers() throws {
        for step in steps { try step.job(in: self).checkAnswers() }
        for (_, asked) in askedForms where asked.form.isConstraint {
            do throws(AnswerFault) {
                _ = try asked.form.checked().grammar(answerLayout, .ofBytes)
            } catch {
                throw answersCantBe(error)
            }
        }
    }

    package func answersCantBe(_ fault: AnswerFault) -> UserError {
        UserError(.badJob, "\(answerPlace) can't be used: \(fault.message)")
    }
}
