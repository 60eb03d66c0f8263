import BatchPipeline
import Foundation
import Testing
import TokenConstraints

/// Answers of the embedded model under grammars.
@Suite(.tags(.slow), .enabled(if: DemoJob.canRun, "the demo model is not there; make test fetches it"))
struct GrammarJobTests {
    private static let lisp = #"""
        # Nested lists of words and numbers.
        root ::= list
        list ::= "(" item (" " item)* ")"
        item ::= list | [a-z]+ | "-"? [0-9]+ | "\"" [^"\\\x00-\x1f]* "\""
        """#
    private static let sums = """
        root    ::= sum
        sum     ::= product | sum "+" sp product
        product ::= atom | product "*" sp atom
        atom    ::= [0-9]+ sp | [a-z]+ sp "(" sp (sum ("," sp sum)*)? ")" sp | "(" sp sum ")" sp
        sp      ::= " "*
        """

    private static func line(_ id: String) -> String {
        "{\"id\":\"\(id)\",\"prompt\":\"Write a list about \(id).\"}"
    }

    private func texts(_ job: DemoJob) throws -> [(text: String, reason: String)] {
        struct Line: Decodable {
            var text: String
            var finishReason: String
        }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try #require(job.results).map {
            let line = try decoder.decode(Line.self, from: Data($0.utf8))
            return (line.text, line.finishReason)
        }
    }

    @Test(arguments: [lisp, sums], ["0", "0.8", "2"])
    func everyAnswerIsATextOfTheGrammar(_ grammar: String, _ temperature: String) throws {
        let matcher = GrammarMatcher(try GrammarSource(grammar))
        for limit in ["3", "7", "40"] {
            let job = try DemoJob(
                ["rain", "salt", "kings"].map { Self.line($0) },
                ["--max-tokens", limit, "--temperature", temperature, "--workers", "3", "--samples", "2"])
            defer { job.remove() }
            try Data(grammar.utf8).write(to: URL(filePath: job.folder + "/answer.grammar"))
            let run = try job.run(["--grammar", "answer.grammar"])
            #expect(run.status == 0, "\(run.errors)")
            let answers = try texts(job)
            #expect(answers.count == 6)
            for answer in answers {
                #expect(try matcher.verdict(on: answer.text.utf8) == .isText, "\(answer.text)")
                #expect(["stop", "length"].contains(answer.reason))
            }
        }
    }
}
