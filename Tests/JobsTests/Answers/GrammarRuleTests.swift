import JSON
import Testing

@testable import BatchPipeline
@testable import Jobs

/// How jobs and lines ask for a grammar, and what becomes of it.
@Suite struct GrammarRuleTests {
    private static let grammar = "root ::= \"[\" root? \"]\""

    private func record(_ grammar: JSONValue) throws -> PromptRecord {
        try PromptRecord(fields: ["prompt": "a", "grammar": grammar])
    }

    private func job(_ yaml: String, folder: String = "jobs") throws -> JobSettings {
        try JobSettings.parse(
            "model: m\ninput: in.jsonl\noutput: out.jsonl\n" + yaml, name: "job.yaml", folder: folder)
    }

    @Test func linesAskForIt() throws {
        #expect(try record(.string(Self.grammar)).form == AnswerFormat.grammar(Self.grammar))
        #expect(try record("?start: \"a\"").form == AnswerFormat.grammar("?start: \"a\""))
        // Fields like others.
        for other in ["The grammar is good: start here.", "", 1, ["root"]] as [JSONValue] {
            #expect(try record(other).form == nil)
        }
        #expect { try record("answer.gbnf") } throws: {
            ($0 as? LineError)?.message.hasPrefix("`grammar` must be a grammar's text") == true
        }
        #expect {
            try PromptRecord(fields: ["prompt": "a", "grammar": .string(Self.grammar), "regex": "a"])
        } throws: {
            ($0 as? LineError)?.message.hasPrefix("`regex` and `grammar` both") == true
        }
    }

    @Test func jobsAskForIt() throws {
        let text = try job("grammar: |\n  root ::= \"a\" root\n    | \"b\"\n")
        #expect(text.answerFormat == AnswerFormat.grammar("root ::= \"a\" root\n  | \"b\"\n"))
        let folder = try TestFolder()
        let path = try folder.write(Self.grammar, to: "g.gbnf")
        let file = try job("grammar: g.gbnf", folder: folder.path)
        #expect(file.answerFormat == AnswerFormat.grammar(Self.grammar))
        #expect(file.sources.contains { $0.path == path })
        #expect(throws: UserError.self) { try job("grammar: none.gbnf", folder: folder.path) }
        #expect { try job("regex: a\ngrammar: g.gbnf", folder: folder.path) } throws: {
            "\($0)".contains("regex and grammar both constrain answers")
        }
        #expect { try job("choices: [a, b]\ngrammar: g.gbnf", folder: folder.path) } throws: {
            "\($0)".contains("grammar and choices both constrain")
        }
    }

    @Test func whatIsWrongNamesFileAndLine() throws {
        let folder = try TestFolder()
        let path = try folder.write("root ::= x\n\nx ::= y\n", to: "g.gbnf")
        #expect { try job("grammar: g.gbnf", folder: folder.path) } throws: {
            "\($0)".contains("grammar \(path) can't be used: line 3: y is defined nowhere.")
        }
        _ = try folder.write("root ::= \"a\" root\n", to: "g.gbnf")
        let endless = try job("grammar: g.gbnf", folder: folder.path)
        #expect { try endless.checkAnswers() } throws: {
            "\($0)".contains(
                "grammar \(path) can't be used: line 1: each text of the rule root would be endless")
        }
    }

    @Test func answersAreJudged() throws {
        let rule = try AnswerFormat.grammar("root ::= \"é\" root | \"a\"").checked()
        #expect(rule.problem(with: "éa") == nil)
        #expect(rule.problem(with: "éb") == "the grammar doesn't allow its character 2")
        #expect(rule.problem(with: "é") == "by the grammar, more would have to follow")
    }

    @Test func eachGrammarHasItsFingerprint() throws {
        let (a, b) = (AnswerFormat.grammar("root ::= \"a\""), AnswerFormat.grammar("root ::= \"b\""))
        #expect(a != b && a.fingerprint != b.fingerprint && a.fingerprint.hasPrefix("sha256 "))
        // What a line asks for is part of it.
        func hash(_ fields: JSONValue) throws -> UInt64 {
            let scheme = try LineScheme(job(""))
            let bytes = Array(JSONWriter.text(of: fields).utf8)
            return scheme.digest(
                of: InputRecord(bytes, number: 1), nil, LineContent(fields: fields))
        }
        #expect(
            try hash(["prompt": "a", "grammar": "root ::= \"a\""])
                != hash(["prompt": "a", "grammar": "root ::= \"b\""]))
        #expect(try hash(["prompt": "a", "grammar": "good"]) == hash(["prompt": "a"]))
    }
}
