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

    private static func line(_ id: String, _ more: String = "") -> String {
        "{\"id\":\"\(id)\",\"prompt\":\"Write a list about \(id).\"\(more)}"
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

    /// An object is what OpenAI's API calls one, byte for byte.
    @Test(arguments: ["true", "object", "array"]) func everyAnswerIsJSON(_ mode: String) throws {
        for limit in ["3", "40"] {
            func answers(_ settings: [String]) throws -> [String] {
                let job = try DemoJob(
                    ["rain", "salt", "kings"].map { Self.line($0) },
                    ["--max-tokens", limit, "--temperature", "1", "--samples", "2"] + settings)
                defer { job.remove() }
                let run = try job.run()
                #expect(run.status == 0, "\(run.errors)")
                return try texts(job).map(\.text)
            }
            let made = try answers(["--json-mode", mode])
            for text in made {
                let value = try JSONSerialization.jsonObject(
                    with: Data(text.utf8), options: .fragmentsAllowed)
                #expect(mode == "true" || mode == (value is [Any] ? "array" : "object"), "\(text)")
            }
            #expect(made.count == 6)
            if mode == "object" { #expect(try made == answers(["--response-format", "json_object"])) }
        }
    }

    @Test func linesBringTheirOwn() throws {
        let job = try DemoJob(
            [
                Self.line("rain", #","grammar":"root ::= \"(\" root \")\" | \"wet\"""#),
                Self.line("salt", #","grammar":"root ::= \"a\" root | \"b\"""#), Self.line("free"),
                Self.line("wrong", #","grammar":"root ::= x""#), Self.line("lark", #","grammar":"start: x""#),
                Self.line(
                    "tight", #","grammar":"root ::= \"0123456789abcdefghijklmnopqrstuvwxyz\"","max_tokens":2"#
                ),
            ], ["--max-tokens", "9", "--temperature", "1", "--max-failures", "3"])
        defer { job.remove() }
        let run = try job.run()
        #expect(run.status == 0, "\(run.errors)")
        let results = try #require(job.results)
        #expect(
            results[0].firstMatch(of: /"text":"(\(*)wet(\)*)"/).map { $0.1.count == $0.2.count } == true,
            "\(results[0])")
        #expect(results[1].contains(/"text":"a*b"/), "\(results[1])")
        #expect(!results[2].contains("\"error\""))
        #expect(results[3].contains("bad_schema") && results[3].contains("line 1: x is defined nowhere"))
        #expect(results[4].contains("Lark's notation is not read"))
        #expect(results[5].contains("max_tokens_too_small"))
    }

    /// Killed at some time, the run goes on to the same bytes.
    @Test func aKilledRunEndsWithTheSameBytes() throws {
        let settings = [
            "--max-tokens", "60", "--temperature", "1", "--workers", "2", "--grammar", Self.lisp,
            "--checkpoint-interval", "0.05", "--speculate", "off",
        ]
        let lines = (0..<6).map { Self.line("thing \($0)") }
        let undisturbed = try DemoJob(lines, settings)
        defer { undisturbed.remove() }
        #expect(try undisturbed.run().status == 0)
        let job = try DemoJob(lines, settings)
        defer { job.remove() }
        let program = try job.start()
        try program.wait(for: "saved tokens") {
            FileManager.default.fileExists(atPath: job.folder + "/out.jsonl.journal.inflight")
        }
        program.send(SIGKILL)
        _ = try program.end()
        let again = try job.run()
        #expect(again.status == 0, "\(again.errors)")
        #expect(job.results == undisturbed.results)
        let verify = try RunningProgram(["verify"] + job.arguments(), folder: job.folder).end()
        #expect(verify.status == 0, "\(verify.errors)")
        // Another grammar is another run.
        let other = try job.run(["--grammar", Self.sums])
        #expect(other.status != 0 && other.errors.contains("grammar"), "\(other.errors)")
    }
}
