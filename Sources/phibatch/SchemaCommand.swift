import ArgumentParser
import BatchPipeline
import JSON
import JSONSchema
import PhiModel
import TokenConstraints

struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Say what a JSON Schema does to answers, and which documents follow it.",
        usage: """
            phibatch schema <schema file> [--check <instances.jsonl>] [--model <model>] [--json]
                   phibatch schema --suite <suite.jsonl> [--model <model>] [--json]
            """,
        discussion: """
            Drafts 2020-12, 2019-09, 7, 6 and 4 are known; a schema's $schema says which, and the first is meant without. \
            References stay within the document: another one is never fetched. Formats are checked. Regular expressions are \
            those of ECMA-262 without lookaround and back references.

            What masks can't decide while an answer is generated is listed: it is checked when the answer is finished. The \
            example is the shortest answer.

            --check takes a JSON value a line, packed or not, and says what is wrong with those that don't follow, \
            and whether each could be generated: token by token, its members put into the schema's order, without white \
            space. --model takes a model's tokens (no weights) for that; without it, each byte is one. --suite takes lines \
            of {"name", "schema", "tests": [{"valid", "data"}]} and counts.

            EXAMPLE:
              phibatch schema answer.schema.json --check answers.jsonl --model phi-4-mini

            EXIT CODES:
              0    the schema can be used, and all instances follow it
              1    an instance does not, can't be generated, or is not what the suite says
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

    @Option(help: "A model whose tokens to generate with: a folder or a name.", completion: .directory)
    var model: String?

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
            let tokens = try model.map(Self.tokens) ?? .ofBytes
            if let suite { return try judge(suite, tokens) }
            guard let file else { return }
            let schema = try load(file)
            let grammar: AnswerGrammar
            do throws(ConstraintFault) { grammar = try AnswerGrammar(schema, tokens: tokens) } catch {
                if json { print(SchemaReport.refusal(error.pointer, error.problem)) }
                throw JobError(.badJob, at: file, "\(error.description).")
            }
            var report = SchemaReport(schema, grammar)
            if let check { try JSONLines.forEach(in: check) { report.add($1, line: $0) } }
            print(json ? report.json : report.text)
            if report.hasOthers { throw ExitCode(1) }
        }
    }

    private static func tokens(_ model: String) throws -> TokenTrie {
        let folder = try ModelFetch.folder(model)
        try ModelFolder.checkLinks(folder)
        guard let codec = try TextCodec(folder: folder), let texts = codec.tokenTexts else {
            throw ModelError(.missing, path: folder, "the folder has no tokenizer.json.")
        }
        // One id more stands for the end, whichever it is.
        return TokenTrie(texts, count: texts.bytes.count + 1, endOfSequence: [Int32(texts.bytes.count)])
    }

    /// - Throws: `JobError` naming the file, and the place in it.
    private func load(_ path: String) throws -> Schema {
        let bytes = try JSONLines.contents(of: path)
        let value: JSONValue
        do throws(JSONFault) { value = try JSONValue(parsing: bytes, limits: .ownLine) } catch {
            throw JobError(.badJob, at: path, "is not valid JSON: \(error).")
        }
        do throws(SchemaFault) { return try Schema(value) } catch {
            if json { print(SchemaReport.refusal(error.pointer, error.problem.text)) }
            throw JobError(.badJob, at: path, "\(error.text)")
        }
    }

    private func judge(_ suite: String, _ tokens: TokenTrie) throws {
        var report = SchemaSuiteReport(tokens)
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
