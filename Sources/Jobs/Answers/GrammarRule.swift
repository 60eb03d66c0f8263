import JSON
import TokenConstraints

extension AnswerKey {
    static let grammar = AnswerKey(
        name: "grammar", placeholder: "FILE",
        help: "a context-free grammar that answers follow, in GBNF: a file, or the text itself",
        file: "a file with a grammar, or a grammar's text",
        right: "a grammar's text (GBNF), not a file's name",
        // A field with any other text is data.
        isAsked: { field in
            guard case .string(let text) = field else { return false }
            return AnswerFormat.isGrammar(text) || text.hasSuffix(".gbnf") || text.hasSuffix(".lark")
        },
        ofFile: { contents throws(SettingProblem) in
            guard let text = String(validating: contents, as: UTF8.self) else {
                throw SettingProblem("is not valid UTF-8")
            }
            return .grammar(text)
        },
        read: { value in
            guard case .string(let text) = value, AnswerFormat.isGrammar(text) else { return nil }
            return .grammar(text)
        })
}

extension AnswerFormat {
    /// Texts of a context-free grammar in GBNF.
    static func grammar(_ text: String) -> AnswerFormat {
        AnswerFormat("grammar", text) { _ throws(SettingProblem) in
            let source: GrammarSource
            do throws(ConstraintFault) { source = try GrammarSource(text) } catch {
                throw SettingProblem(error)
            }
            let matcher = GrammarMatcher(source)
            return CheckedRule(
                problem: { problem(with: $0, by: matcher) },
                compiled: { _, tokens throws(ConstraintFault) in
                    try AnswerGrammar(source, tokens: tokens)
                })
        }
    }

    /// Whether a text is a grammar, not a file's name: it has a rule of GBNF, or the first rule of a grammar in Lark's
    /// notation, which is refused.
    fileprivate static func isGrammar(_ text: String) -> Bool {
        text.split(whereSeparator: \.isNewline).contains { line in
            let words = line.drop { $0.isWhitespace || $0 == "?" || $0 == "!" }
            let name = words.prefix { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" }
            let rest = words.dropFirst(name.count).drop { $0.isWhitespace }
            return !name.isEmpty && rest.hasPrefix("::=") || name == "start" && rest.hasPrefix(":")
        }
    }

    private static func problem(with answer: String, by matcher: GrammarMatcher) -> String? {
        do throws(ConstraintFault) {
            switch try matcher.verdict(on: answer.utf8) {
            case .isText: return nil
            case .unfinished: return "by the grammar, more would have to follow"
            case .wrong(let byte):
                let characters = String(decoding: answer.utf8.prefix(byte), as: UTF8.self).unicodeScalars
                    .count
                return "the grammar doesn't allow its character \(characters + 1)"
            case .tooCostly: return "reading it by the grammar takes too long"
            }
        } catch {
            return "the grammar can't be used: \(error)"
        }
    }
}
