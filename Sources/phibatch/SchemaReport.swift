import BatchPipeline
import Foundations
import JSONSchema

/// What "phibatch schema" says of one schema and of instances.
struct SchemaReport {
    private static let listed = 20
    private let draft: String
    private let notes: [(member: String, what: String, mentions: [SchemaMention])]
    private var instances: [(line: Int, violations: [SchemaViolation])] = []
    private(set) var invalid = 0

    init(_ schema: Schema) {
        draft = schema[schema.root].draft.name
        notes = [
            ("unknown_keywords", "is no keyword of the draft, and says nothing", schema.unknownKeywords),
            ("unknown_formats", "is a format that can't be checked", schema.unknownFormats),
            ("ignored_keywords", "has no effect there", schema.ignoredKeywords),
        ]
    }

    mutating func add(_ value: JSONValue, line: Int, of schema: Schema) {
        let violations = schema.violations(of: value, assertsFormats: true)
        if !violations.isEmpty { invalid += 1 }
        instances.append((line, violations))
    }

    var text: String {
        var lines: [Message] = ["the schema can be used (\(draft))"]
        for (_, what, mentions) in notes {
            lines += mentions.prefix(Self.listed).map { "\($0.pointer): \($0.name) \(what)" }
            if mentions.count > Self.listed { lines.append("and \(mentions.count - Self.listed) more") }
        }
        for (line, violations) in instances {
            lines += violations.map {
                "line \(line), \($0.instance.isEmpty ? "the whole" : $0.instance): \($0.text) (\($0.schema))"
            }
        }
        if !instances.isEmpty {
            lines.append(
                "\(instances.count) instances: \(instances.count - invalid) follow it, \(invalid) do not")
        }
        return lines.joined(separator: "\n").text
    }

    var json: String {
        var writer = JSONWriter()
        writer.object { writer in
            writer.bool("taken", true)
            writer.string("draft", draft)
            for (member, _, mentions) in notes {
                writer.array(member) { writer in
                    for mention in mentions {
                        writer.object { writer in
                            writer.string("name", mention.name)
                            writer.string("pointer", mention.pointer)
                        }
                    }
                }
            }
            writer.array("instances") { writer in
                for (line, violations) in instances { Self.write(line, violations, &writer) }
            }
        }
        return writer.text
    }

    private static func write(_ line: Int, _ violations: [SchemaViolation], _ writer: inout JSONWriter) {
        writer.object { writer in
            writer.int("line", line)
            writer.bool("valid", violations.isEmpty)
            guard !violations.isEmpty else { return }
            writer.array("errors") { writer in
                for violation in violations {
                    writer.object { writer in
                        writer.string("instance", violation.instance)
                        writer.string("schema", violation.schema)
                        writer.string("message", violation.text.text)
                    }
                }
            }
        }
    }
}

/// What "phibatch schema --suite" counts.
struct SchemaSuiteReport {
    private var schemas = 0
    private var refused: [String: Int] = [:]
    private var valid = 0
    private(set) var validRejected = 0
    private var invalid = 0
    private(set) var invalidAccepted = 0
    private var loading = Distribution()
    private var judging = Distribution()

    mutating func add(_ document: JSONValue, _ tests: [JSONValue]) {
        schemas += 1
        let start = ContinuousClock.now
        do throws(SchemaFault) {
            let schema = try Schema(document)
            loading.add((.now - start).seconds * 1e3)
            for test in tests { add(test, schema) }
        } catch {
            loading.add((.now - start).seconds * 1e3)
            refused["\(error.kind)", default: 0] += 1
        }
    }

    private mutating func add(_ test: JSONValue, _ schema: Schema) {
        guard let value = test["data"], case .bool(let isValid)? = test["valid"] else { return }
        let start = ContinuousClock.now
        let accepts = schema.accepts(value, assertsFormats: true)
        judging.add((.now - start).seconds * 1e6)
        if isValid {
            valid += 1
            validRejected += accepts ? 0 : 1
        } else {
            invalid += 1
            invalidAccepted += accepts ? 1 : 0
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
            \(schemas) schemas: \(taken) can be used\(reasons.isEmpty ? "" : "; refused: " + reasons.joined(separator: ", "))
            \(valid) valid instances, of which \(validRejected) are rejected
            \(invalid) invalid instances, of which \(invalidAccepted) are accepted
            median, 99 %, most: loading \(shown(loading, 1000)) us, judging \(shown(judging, 1)) us
            """
    }

    var json: String {
        var writer = JSONWriter()
        writer.object { writer in
            writer.int("schemas", schemas)
            writer.int("taken", taken)
            writer.object("refused") { writer in
                for (kind, count) in refused.sorted(by: { $0.key < $1.key }) { writer.int(kind, count) }
            }
            writer.int("valid_instances", valid)
            writer.int("valid_rejected", validRejected)
            writer.int("invalid_instances", invalid)
            writer.int("invalid_accepted", invalidAccepted)
            for (name, times) in [("compile_ms", loading), ("validate_us", judging)] {
                let shares = times.percentiles([50, 99, 100])
                writer.object(name) { writer in
                    for (share, value) in zip(["median", "p99", "max"], shares) {
                        writer.number(share, value.rounded(toPlaces: 3))
                    }
                }
            }
        }
        return writer.text
    }
}
