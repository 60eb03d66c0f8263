import JSON
import TokenConstraints

/// At most one of these is set, besides `tools`; each overrides a line's own.
extension JobSettings {
    /// A JSON Schema that all answers follow.
    public var schema: AnswerFormat? {
        get { forms[AnswerKey.schema.name] }
        set { forms[AnswerKey.schema.name] = newValue }
    }
    /// The form of all answers, as in OpenAI's API.
    public var responseFormat: AnswerFormat? {
        get { forms[AnswerKey.responseFormat.name] }
        set { forms[AnswerKey.responseFormat.name] = newValue }
    }
    /// A regular expression of ECMA-262 that matches whole answers; lookahead may only begin it.
    public var regex: String? {
        get { forms[AnswerKey.regex.name]?.text }
        set { forms[AnswerKey.regex.name] = newValue.map { AnswerFormat.regex($0) } }
    }
    /// A context-free grammar that answers follow, in llama.cpp's GBNF; checked when a job begins.
    public var grammar: String? {
        get { forms[AnswerKey.grammar.name]?.text }
        set { forms[AnswerKey.grammar.name] = newValue.map { AnswerFormat.grammar($0) } }
    }

    /// The keys of constraints that are set.
    var answerFormats: [(key: String, form: AnswerFormat)] {
        AnswerKey.names.compactMap { name in forms[name].map { (name, $0) } }
    }

    /// The constraint of the job's answers; nil if lines decide.
    package var answerFormat: AnswerFormat? { AnswerFormat.together(answerFormats.map(\.form)) }

    /// Layout of answers in JSON.
    package var answerLayout: AnswerGrammar.Layout {
        .init(indent: request.indent, others: request.openObjects ?? false ? .apart : .ifAsked)
    }

    /// A key with the file that holds its constraint, if one does.
    private func place(ofAnswers key: String) -> String {
        sources.first { $0.what == "the \(key)" }.map { "\(key) \($0.path)" } ?? key
    }

    /// The beginning of a message about the job's constraint.
    var answerPlace: String {
        let places = answerFormats.map { place(ofAnswers: $0.key) }
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
        if let tools = form.tools {
            do throws(SettingProblem) { _ = try tools.choosing(request.toolChoice, atMost: nil) } catch {
                return "tool_choice \(error.message)"
            }
        }
        for (key, form) in answerFormats where form.isConstraint {
            do throws(ConstraintFault) { _ = try form.checked() } catch {
                return "\(place(ofAnswers: key)) can't be used: \(error.sentence)"
            }
        }
        return nil
    }

    /// Checks, before a model is loaded, that any answer meets the job's constraint.
    /// - Throws: `UserError`.
    func checkAnswers() throws {
        for step in steps { try step.job(in: self).checkAnswers() }
        for (_, form) in answerFormats where form.isConstraint {
            do throws(ConstraintFault) { _ = try form.checked().grammar(answerLayout, .ofBytes) } catch {
                throw answersCantBe(error)
            }
        }
    }

    package func answersCantBe(_ fault: ConstraintFault) -> UserError {
        UserError(.badJob, "\(answerPlace) can't be used: \(fault.sentence)")
    }
}
