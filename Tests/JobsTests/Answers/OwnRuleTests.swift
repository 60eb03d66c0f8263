import JSON
import Testing
import TokenConstraints

@testable import Jobs

/// A rule on answers is a type that conforms, and its name in a list where lines ask for it: here is one more, of which
/// nothing else knows.
@Suite struct OwnRuleTests {
    private func job(_ path: String, factor: String) -> JobSettings {
        .test(input: [path]) { job in
            job.schema = AnswerSchema(AnswerForm(MultipleRule(text: factor)))
            (job.temperature, job.maxTokens, job.retries) = (1, 12, 100)
        }
    }

    /// Masks have them be numbers; whether these are multiples shows in the end.
    @Test func itsAnswersAreMaskedAndJudged() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(
            (0..<30).map { "{\"prompt\":\"\($0)\"}\n" }.joined(), to: "in.jsonl")
        try ScriptedRun.inManyWays(job(path, factor: "3")) { outcome, lines, _ in
            #expect(outcome.status == .complete && lines.count == 30)
            #expect(outcome.statistics.turnedDown > 20)
            for line in lines {
                let text = try #require(try ScriptedRun.row(line).string("text"))
                #expect(Int(text).map { $0 % 3 } == 0, "\(text)")
            }
        }
    }

    @Test func itSaysWhatCannotBe() throws {
        #expect(job("in.jsonl", factor: "3").answerProblem == nil)
        #expect(job("in.jsonl", factor: "x").answerProblem == "schema can't be used: x is no factor.")
        #expect(AnswerForm(MultipleRule(text: "3")) != AnswerForm(MultipleRule(text: "7")))
    }
}

/// Answers are whole numbers that can be divided by another one.
private struct MultipleRule: AnswerRule {
    static let name = "multiple_of"
    static let placeholder = "N"
    static let help = "what answers are multiples of"
    static let about = "What answers are multiples of."
    static let right = "a whole number, as text"

    let text: String

    init(text: String) { self.text = text }

    init?(_ value: JSONValue) {
        guard case .string(let text) = value else { return nil }
        self.text = text
    }

    var kind: String { Self.name }
    var fingerprint: String { text }

    func checked() throws(AnswerFault) -> any CheckedRule {
        guard let factor = Int(text), factor > 0 else { throw AnswerFault("\(text) is no factor.") }
        return Checked(factor: factor)
    }

    private struct Checked: CheckedRule {
        let factor: Int

        func compiled(
            _ layout: AnswerGrammar.Layout, _ tokens: TokenTrie, _ effort: CompileEffort
        ) throws(ConstraintFault) -> AnswerGrammar {
            try AnswerGrammar(regex: "[1-9][0-9]{0,5}", tokens: tokens)
        }

        func problem(with answer: String) -> String? {
            Int(answer).map { $0 % factor } == 0 ? nil : "\(factor) doesn't divide it"
        }
    }
}
