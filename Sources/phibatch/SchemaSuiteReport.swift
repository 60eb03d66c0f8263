import BatchPipeline
import JSON
import JSONSchema
import TokenConstraints

/// What "phibatch schema --suite" counts.
struct SchemaSuiteReport {
    private let tokens: TokenTrie
    private var schemas = 0
    /// By the keyword at which a schema is refused.
    private var refused: [String: Int] = [:]
    private var fullyMasked = 0
    private var valid = 0
    private(set) var validRejected = 0
    private var invalid = 0
    private var invalidMasked = 0
    private(set) var invalidAccepted = 0
    private var compiling = Distribution()
    private var masking = Distribution()
    private var judging = Distribution()

    init(_ tokens: TokenTrie) { self.tokens = tokens }

    mutating func add(_ document: JSONValue, _ tests: [JSONValue]) {
        schemas += 1
        let start = ContinuousClock.now
        let schema: Schema
        do throws(SchemaFault) { schema = try Schema(document) } catch {
            refused[Self.keyword(error.pointer) ?? "schema", default: 0] += 1
            return
        }
        do throws(ConstraintFault) {
            let grammar = try AnswerGrammar(schema, tokens: tokens)
            compiling.add((.now - start).seconds * 1e3)
            if grammar.validated.isEmpty { fullyMasked += 1 }
            for test in tests { add(test, schema, grammar) }
        } catch {
            refused["\(error.kind)", default: 0] += 1
        }
    }

    /// The last keyword on the way that a pointer leads.
    private static func keyword(_ pointer: String) -> String? {
        pointer.split(separator: "/").map(String.init).last { name in
            Draft.allCases.contains { $0.knows(name) }
        }
    }

    private mutating func add(_ test: JSONValue, _ schema: Schema, _ grammar: AnswerGrammar) {
        guard let value = test["data"], case .bool(let isValid)? = test["valid"] else { return }
        let generation = grammar.generation(of: grammar.text(of: value))
        for seconds in generation.maskSeconds { masking.add(seconds * 1e6) }
        let start = ContinuousClock.now
        let follows = schema.accepts(value, assertsFormats: true)
        judging.add((.now - start).seconds * 1e6)
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

    /// - Parameter scale: microseconds that the times are in.
    private func shown(_ times: Distribution, _ scale: Double) -> String {
        times.percentiles([50, 99, 100]).map { rounded($0 * scale) }.joined(separator: ", ")
    }

    var text: String {
        let reasons = refused.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        return """
            \(schemas) schemas: \(taken) can be used, \(fullyMasked) with masks alone\(reasons.isEmpty ? "" : "; refused: " + reasons.joined(separator: ", "))
            \(valid) valid instances, of which \(validRejected) are rejected
            \(invalid) invalid instances, of which \(invalidMasked) could be generated and \(invalidAccepted) are accepted
            median, 99 %, most: compiling \(shown(compiling, 1000)) us, a mask \(shown(masking, 1)) us, judging \(shown(judging, 1)) us
            """
    }

    var json: String {
        JSONWriter.object { writer in
            writer.int("schemas", schemas)
            writer.int("taken", taken)
            writer.int("fully_masked", fullyMasked)
            writer.object("refused") { writer in
                for (keyword, count) in refused.sorted(by: { $0.key < $1.key }) { writer.int(keyword, count) }
            }
            writer.int("valid_instances", valid)
            writer.int("valid_rejected", validRejected)
            writer.int("invalid_instances", invalid)
            writer.int("invalid_accepted_by_mask", invalidMasked)
            writer.int("invalid_accepted", invalidAccepted)
            for (name, times) in [("mask_us", masking), ("compile_ms", compiling), ("validate_us", judging)] {
                let shares = times.percentiles([50, 99, 100])
                writer.object(name) { writer in
                    for (share, value) in zip(["median", "p99", "max"], shares) {
                        writer.number(share, value.rounded(toPlaces: 3))
                    }
                }
            }
        }.text
    }
}
