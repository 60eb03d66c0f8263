import JSON

/// A JSON Schema that answers follow.
public struct AnswerSchema: Sendable, Equatable {
    package let form: AnswerForm
    /// The file it is from; nil if there is none.
    package let path: String?

    /// - Parameter json: the schema as JSON text. What it says is looked at when a job begins.
    /// - Throws: `JobError` if the text is no JSON, or neither an object nor true or false.
    public init(_ json: String) throws {
        do {
            try self.init(parsing: Array(json.utf8), path: nil)
        } catch {
            throw JobError(.badJob, "The schema \(error.text).")
        }
    }

    init(_ form: AnswerForm, path: String? = nil) {
        self.form = form
        self.path = path
    }

    init(parsing json: [UInt8], path: String?) throws(AnswerFormProblem) {
        let document: JSONValue
        do throws(JSONFault) { document = try JSONValue(parsing: json, limits: .ownLine) } catch {
            throw AnswerFormProblem("is not valid JSON: \(error)")
        }
        self.init(try AnswerForm(schema: document), path: path)
    }
}

/// The text of a grammar that answers follow: GBNF as llama.cpp has it, or Lark's notation.
public struct GrammarText: Sendable, Equatable {
    package let form: AnswerForm
    /// The file it is from; nil if there is none.
    package let path: String?

    /// - Parameter text: what it says is looked at when a job begins.
    public init(_ text: String) { self.init(text, path: nil) }

    init(_ text: String, path: String?) {
        form = AnswerForm(.grammar(text))
        self.path = path
    }
}

/// What answers are like, as OpenAI's API asks for it.
public struct ResponseFormat: Sendable, Equatable {
    package let form: AnswerForm

    init(_ form: AnswerForm) { self.form = form }

    /// Any text, whatever lines ask for.
    public static let text = ResponseFormat(.text)
    /// A JSON object.
    public static let jsonObject = ResponseFormat(AnswerForm(.object))
    /// JSON that follows a schema.
    public static func jsonSchema(_ schema: AnswerSchema) -> ResponseFormat { ResponseFormat(schema.form) }
}

extension JobSettings {
    /// What the job asks of answers; nil if it leaves that to lines.
    package var answerForm: AnswerForm? {
        schema?.form ?? responseFormat?.form ?? regex.map { AnswerForm(.regex($0)) } ?? grammar?.form
    }

    /// The settings that say what answers are like, as far as they are given.
    private var answerKeys: [String] {
        [
            ("schema", schema != nil), ("response_format", responseFormat != nil), ("regex", regex != nil),
            ("grammar", grammar != nil),
        ].filter(\.1).map(\.0)
    }

    /// How the job's form of answers begins a message.
    var answerPlace: String {
        schema?.path.map { "schema \($0)" } ?? grammar?.path.map { "grammar \($0)" } ?? answerKeys.first
            ?? "the form of answers"
    }

    /// What of the form of answers doesn't go with other settings, or can't be; in words that follow nothing, nil if
    /// all is well.
    var answerProblem: String? {
        if answerKeys.count > 1 {
            return "\(answerKeys[0]) and \(answerKeys[1]) both say what answers are like; keep one."
        }
        guard let form = answerForm, form.isConstraint else { return nil }
        if let other = request.formConflict {
            return "\(other.name) can't be combined with \(answerKeys[0]): \(other.reason)."
        }
        do throws(AnswerFault) {
            _ = try form.checked()
            return nil
        } catch {
            return "\(answerPlace) can't be used: \(error.message)"
        }
    }

    /// Whether there is any answer of the job's form, found before a model is there.
    /// - Throws: `JobError`.
    func checkAnswers() throws {
        for step in steps { try step.job(in: self).checkAnswers() }
        guard let form = answerForm, form.isConstraint else { return }
        do throws(AnswerFault) {
            _ = try form.checked().grammar(answerLayout, .ofBytes)
        } catch {
            throw answersCantBe(error)
        }
    }

    package func answersCantBe(_ fault: AnswerFault) -> JobError {
        JobError(.badJob, "\(answerPlace) can't be used: \(fault.message)")
    }
}
