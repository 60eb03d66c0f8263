import ArgumentParser
import FoundationShim
import JSON
import JSONSchema
import Jobs
import PhiText
import TokenConstraints

struct SchemaSuiteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schemas",
        abstract: "Count how known instances fare under their schemas.",
        discussion: """
            A line of the suite is {"schema", "tests": [{"valid", "data"}]}; the file may be compressed. An instance \
            is accepted if masks allow it token by token, and the schema's validator accepts it. The exit status is 1 \
            if any result differs from the suite's.

            EXAMPLE:
              phibatch-dev schemas maskbench.jsonl.gz --model models/smollm2-demo
            """)

    @Argument(help: "The suite.")
    var file: String

    @Option(help: "The folder of a model whose tokens are used; without it each byte is a token.")
    var model: String?

    func run() throws {
        var tally = SchemaTally(try model.map(Self.tokens) ?? .ofBytes)
        var reader = InputReader(paths: [file], format: InputFormat.jsonl)
        while let line = try reader.next() {
            let value = try JSONValue(parsing: line.bytes, limits: .ownLine)
            guard case .array(let tests)? = value["tests"], let document = value["schema"] else {
                throw UserError(
                    .badJob, at: "\(file):\(line.number)", "the line needs `schema` and `tests`, a list.")
            }
            tally.add(document, tests)
        }
        print(tally.text)
        if tally.validRejected + tally.invalidAccepted > 0 { throw ExitCode(1) }
    }

    private static func tokens(_ folder: String) throws -> TokenTrie {
        guard let texts = try TextCodec(folder: folder)?.tokenTexts else {
            throw UserError(.badJob, at: folder, "the folder has no tokenizer.json.")
        }
        // One further id is the end of sequence.
        return TokenTrie(texts, count: texts.bytes.count + 1, endOfSequence: [Int32(texts.bytes.count)])
    }
}

/// Counts and times of a suite's schemas and instances.
private struct SchemaTally {
    private let tokens: TokenTrie
    private var schemas = 0
    /// Number of refused schemas by keyword.
    private var refused: [String: Int] = [:]
    private var fullyMasked = 0
    private var valid = 0
    private(set) var validRejected = 0
    private var invalid = 0
    private var invalidMasked = 0
    private(set) var invalidAccepted = 0
    private var compiling: [Double] = []
    private var masking: [Double] = []
    private var judging: [Double] = []

    init(_ tokens: TokenTrie) { self.tokens = tokens }

    mutating func add(_ document: JSONValue, _ tests: [JSONValue]) {
        schemas += 1
        let start = ContinuousClock.now
        let schema: Schema
        do throws(ConstraintFault) { schema = try Schema(document) } catch {
            refused[error.pointer.flatMap(Self.keyword) ?? "schema", default: 0] += 1
            return
        }
        do throws(ConstraintFault) {
            let grammar = try AnswerGrammar(schema, tokens: tokens)
            compiling.append((.now - start).seconds * 1e6)
            if grammar.validated.isEmpty { fullyMasked += 1 }
            for test in tests { add(test, schema, grammar) }
        } catch {
            refused["\(error.kind)", default: 0] += 1
        }
    }

    /// Returns the last keyword of a pointer.
    private static func keyword(_ pointer: String) -> String? {
        pointer.split(at: "/").map(String.init).last { name in
            Draft.allCases.contains { $0.knows(name) }
        }
    }

    private mutating func add(_ test: JSONValue, _ schema: Schema, _ grammar: AnswerGrammar) {
        guard let value = test["data"], case .bool(let isValid)? = test["valid"] else { return }
        let generation = grammar.generation(of: grammar.text(of: value))
        for seconds in generation.maskSeconds { masking.append(seconds * 1e6) }
        let start = ContinuousClock.now
        let follows = schema.accepts(value, assertsFormats: true)
        judging.append((.now - start).seconds * 1e6)
        let isAccepted = generation.isPossible && follows
        if isValid {
            valid += 1
            validRejected += isAccepted ? 0 : 1
        } else {
            invalid += 1
            invalidMasked += generation.isPossible ? 1 : 0
            invalidAccepted += isAccepted ? 1 : 0
        }
    }

    private var taken: Int { schemas - refused.values.reduce(0, +) }

    /// Shows the median, the 99th percentile and the maximum.
    private func shown(_ times: [Double]) -> String {
        let sorted = times.sorted()
        guard !sorted.isEmpty else { return "-" }
        return [50, 99, 100].map { sorted[(sorted.count - 1) * $0 / 100].text(decimals: 1) }
            .joined(separator: ", ")
    }

    var text: String {
        let reasons = refused.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        return """
            \(schemas) schemas: \(taken) can be used, \(fullyMasked) with masks alone\(reasons.isEmpty ? "" : "; refused: " + reasons.joined(separator: ", "))
            \(valid) valid instances, of which \(validRejected) are rejected
            \(invalid) invalid instances, of which \(invalidMasked) could be generated and \(invalidAccepted) are accepted
            median, 99 %, most: compiling \(shown(compiling)) us, a mask \(shown(masking)) us, judging \(shown(judging)) us
            """
    }
}
