import JSON
import Testing

@testable import BatchPipeline
@testable import Jobs

/// How lines ask for a form of their answers.
@Suite struct LineFormatTests {
    private func record(_ line: String) throws -> PromptRecord { try PromptRecord.parse(Array(line.utf8)) }

    private func problem(_ line: String) -> String {
        do {
            _ = try record(line)
            return "no error"
        } catch { return (error as? LineError)?.message ?? "\(error)" }
    }

    @Test func formsAreRead() throws {
        #expect(
            try record(#"{"prompt":"a","response_format":{"type":"json_object"}}"#).form
                == AnswerFormat.object)
        #expect(
            try record(#"{"prompt":"a","schema":{"type":"null"}}"#).form
                == AnswerFormat.schema(["type": "null"]))
        #expect(try record(#"{"prompt":"a","regex":"x+"}"#).form == AnswerFormat.regex("x+"))
        #expect(try record(#"{"prompt":"a","regex":null}"#).form == nil)
        // Tables, as questions about databases have them.
        #expect(try record(#"{"prompt":"a","schema":"CREATE TABLE t (a int)"}"#).form == nil)
        #expect(try record(#"{"prompt":"a","schema":["t"]}"#).form == nil)
        // These are JSON Schemas, too: any value, and none.
        #expect(try record(#"{"prompt":"a","schema":true}"#).form == AnswerFormat.schema(true))
        #expect(try record(#"{"prompt":"a","schema":false}"#).form == AnswerFormat.schema(false))
    }

    @Test func whatIsWrongIsSaid() {
        #expect(problem(#"{"prompt":"a","regex":1}"#).hasPrefix("`regex` must be a string"))
        #expect(problem(#"{"prompt":"a","response_format":{}}"#).hasPrefix("`response_format` needs `type`"))
        #expect(problem(#"{"prompt":"a","regex":"x","schema":{}}"#).hasPrefix("`schema` and `regex` both"))
    }
}
