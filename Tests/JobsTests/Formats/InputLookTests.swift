import Foundation
import Testing

@testable import BatchPipeline
@testable import Jobs

/// Files that are no JSON lines are named as what they are, with what makes lines of them.
@Suite struct InputLookTests {
    struct Example: Sendable {
        var bytes: [UInt8]
        var name: String
        var remedy: String

        init(_ bytes: [UInt8], _ name: String, _ remedy: String) {
            (self.bytes, self.name, self.remedy) = (bytes, name, remedy)
        }

        init(_ text: String, _ name: String, _ remedy: String) { self.init(Array(text.utf8), name, remedy) }
    }

    private static func utf16(_ text: String) -> [UInt8] {
        text.utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
    }

    static let examples: [Example] = [
        Example([0xfd] + Array("7zXZ".utf8), "xz", "xz -dc"), Example("PAR1....", "Parquet", "does not end"),
        Example("PK\u{3}\u{4}..", "ZIP", "unzip -p"), Example(utf16("\u{FEFF}{}"), "UTF-16", "iconv"),
        Example(utf16("{\"a\": 1}"), "UTF-16", "iconv"),
        Example("[{\"prompt\": \"a\"},\n {\"prompt\": \"b\"}]\n", "JSON array", "--input-format json"),
        Example("[\n  {\n    \"prompt\": \"a\"\n  }\n]\n", "JSON array", "--input-format json"),
        Example("{\n  \"prompt\": \"a\"\n}\n", "JSON objects over several lines", "jq -c ."),
        Example("id,prompt\n1,Hello\n2,\"a, b\"\n", "not JSON lines", "csv or tsv a table"),
        Example("id\tprompt\n1\tHello\n", "not JSON lines", "csv or tsv a table"),
    ]

    @Test(arguments: examples)
    func whatItIs(example: Example) throws {
        let problem = try #require(InputFormat.jsonl.problem(start: example.bytes, path: "in.file")).text
        #expect(problem.contains(example.name) && problem.contains(example.remedy), "\(problem)")
    }

    @Test(arguments: [
        "{\"prompt\": \"a\"}\n", "{\"prompt\": \"a\"}", "\n\n  {\"prompt\": \"a\"}\n",
        "\u{FEFF}{\"prompt\": \"a\"}\n", "not json\n{\"prompt\": \"a\"}\n", "a, b\n{\"prompt\": \"a\"}\n",
        "[1, 2]\n{\"prompt\": \"a\"}\n", "not json\n", "{\"prom", "{} {}\n",
    ])
    func linesWithFaultsAreLeftToTheRun(text: String) {
        #expect(InputFormat.jsonl.problem(start: Array(text.utf8), path: "in.file") == nil)
    }

    @Test func theFirstLineIsFoundAfterBlankOnes() throws {
        let text = "\n \r\n{\"a\": 1}\n{\"b\": 2}\n"
        let folder = try TestFolder()
        let path = try folder.write(text, to: "in.jsonl")
        let error = #expect(throws: UserError.self) { try JobSettings.test(input: [path]).checkBeginnings() }
        #expect(error?.place == "\(path):3", "\(error as Any)")
    }
}
