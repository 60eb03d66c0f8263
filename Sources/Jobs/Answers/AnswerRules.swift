import Constraints
import JSON
import JSONSchema

/// A form of answers that has been looked at: it can be compiled to masks, and finished answers can be judged by it.
/// May be used from several threads.
struct AnswerRules: Sendable {
    package enum Kind: Sendable {
        case schema(Schema)
        /// As it stands, and between its ends.
        case regex(String, whole: ECMARegex)
    }

    let kind: Kind

    private init(_ kind: Kind) { self.kind = kind }

    /// - Parameter form: a constraint.
    init(_ form: AnswerForm) throws(AnswerFault) {
        switch form.content {
        case .text: throw AnswerFault("Any text is no constraint.")
        case .object: try self.init(document: ["type": "object"])
        case .schema(let document): try self.init(document: document)
        case .regex(let pattern):
            do throws(RegexFault) {
                // By itself first, so that no parenthesis of it can close ours.
                _ = try ECMARegex(pattern)
                self.init(.regex(pattern, whole: try ECMARegex("^(?:\(pattern))$")))
            } catch {
                throw AnswerFault("The regular expression has \(error.description).")
            }
        }
    }

    private init(document: JSONValue) throws(AnswerFault) {
        let schema: Schema
        do throws(SchemaFault) { schema = try Schema(document) } catch {
            throw AnswerFault("\(error.pointer): \(error.problem.text).")
        }
        if let problem = SchemaAnnotations.problem(with: schema) { throw AnswerFault(problem) }
        self.init(.schema(schema))
    }

    /// What goes on, but is hardly meant.
    var warnings: [String] {
        guard case .schema(let schema) = kind else { return [] }
        return schema.unknownFormats.map {
            "\($0.pointer): the format \($0.name.prefix(64)) is not known, and not checked."
        }
            + schema.ignoredKeywords.map {
                "\($0.pointer): \($0.name.prefix(64)) has no effect there."
            }
    }

    /// - Throws: `AnswerFault` if nothing can be generated so.
    func grammar(
        _ layout: AnswerGrammar.Layout, _ tokens: TokenTrie, _ effort: CompileEffort = CompileEffort()
    ) throws(AnswerFault) -> AnswerGrammar {
        do throws(ConstraintFault) {
            switch kind {
            case .schema(let schema):
                return try AnswerGrammar(schema, layout: layout, tokens: tokens, effort: effort)
            case .regex(let pattern, _): return try AnswerGrammar(regex: pattern, tokens: tokens)
            }
        } catch {
            let end = error.problem.hasSuffix(".") ? "" : "."
            throw AnswerFault(error.description + end)
        }
    }

    /// What is wrong with a finished answer, in a part of a sentence; nil if nothing is.
    func problem(with answer: String) -> String? {
        switch kind {
        case .regex(_, let whole):
            var budget = RegexLimits.visits
            switch whole.matches(answer, budget: &budget) {
            case true?: return nil
            case false?: return "the regular expression doesn't match it"
            case nil: return "matching it with the regular expression takes too long"
            }
        case .schema(let schema):
            let value: JSONValue
            do throws(JSONFault) { value = try JSONValue(parsing: Array(answer.utf8), limits: .line) } catch {
                return "it is not JSON: \(error.atByte)"
            }
            // Most are valid, and that is quicker to say.
            if schema.accepts(value, assertsFormats: true) { return nil }
            let violations = schema.violations(of: value, assertsFormats: true)
            guard let first = violations.first else { return nil }
            let more = violations.count > 1 ? ", and \(violations.count - 1) more" : ""
            return "\(first.text.text) (\(first.schema))\(more)"
        }
    }
}
