import ArgumentParser
import BatchPipeline
import Foundations
import JSONSchema

struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Say whether a JSON Schema can be used, and which documents follow it.",
        usage: """
            phibatch schema <schema file> [--check <instances.jsonl>] [--json]
                   phibatch schema --suite <suite.jsonl> [--json]
            """,
        discussion: """
            Drafts 2020-12, 2019-09, 7, 6 and 4 are known; a schema's $schema says which, and the first is meant without. \
            References stay within the document: another one is never fetched. Formats are checked. Regular expressions are \
            those of ECMA-262 without lookaround and back references.

            --check takes a JSON value a line, packed with gzip or not, and says what is wrong with those that don't follow. \
            --suite takes lines of {"name", "schema", "tests": [{"valid", "data"}]} and counts.

            Answers that follow a schema as they are generated are not there yet: this is the part that judges finished ones.

            EXAMPLE:
              phibatch schema answer.schema.json --check answers.jsonl

            EXIT CODES:
              0    the schema can be used, and all instances follow it
              1    an instance does not, or is not judged as the suite says
              65   the schema can't be used; the message says where
              66   missing input
            """)

    @Argument(help: "The schema.", completion: .file(extensions: ["json"]))
    var file: String?

    @Option(help: ArgumentHelp("Values to judge, one a line.", valueName: "file"), completion: .file())
    var check: String?

    @Option(
        help: ArgumentHelp("Schemas with instances of which it is known what they are.", valueName: "file"),
        completion: .file())
    var suite: String?

    @Flag(help: "One JSON object instead of text.")
    var json = false

    func validate() throws {
        guard (file == nil) != (suite == nil) else {
            throw ValidationError("Give a schema file, or --suite.")
        }
        guard suite == nil || check == nil else {
            throw ValidationError("--check needs a schema file, and no --suite.")
        }
    }

    func run() throws {
        try Failure.reported {
            if let suite { return try judge(suite) }
            guard let file else { return }
            let schema = try Self.load(file)
            var report = SchemaReport(schema)
            if let check {
                try JSONLines.forEach(in: check) { report.add($1, line: $0, of: schema) }
            }
            print(json ? report.json : report.text)
            if report.invalid > 0 { throw ExitCode(1) }
        }
    }

    /// - Throws: `JobError` naming the file, and the place in it.
    private static func load(_ path: String) throws -> Schema {
        let bytes = try JSONLines.contents(of: path)
        let value: JSONValue
        do throws(JSONFault) { value = try JSONValue(parsing: bytes, limits: .ownLine) } catch {
            throw JobError(.badJob, at: path, "is not valid JSON: \(error).")
        }
        do throws(SchemaFault) { return try Schema(value) } catch {
            throw JobError(.badJob, at: path, "\(error.text)")
        }
    }

    private func judge(_ suite: String) throws {
        var report = SchemaSuiteReport()
        try JSONLines.forEach(in: suite) { number, line in
            guard case .array(let tests)? = line["tests"], let document = line["schema"] else {
                throw JobError(
                    .badJob, at: "\(suite):\(number)", "the line needs `schema` and `tests`, a list.")
            }
            report.add(document, tests)
        }
        print(json ? report.json : report.text)
        if report.validRejected + report.invalidAccepted > 0 { throw ExitCode(1) }
    }
}
