import BatchPipeline
import Faults
import JSON
import JSONSchema
import TokenConstraints

/// What "phibatch schema" says of one schema and of instances.
struct SchemaReport {
    private struct Instance {
        let line: Int
        let violations: [SchemaViolation]
        let generation: Generation
        /// As it would be generated.
        let text: [UInt8]

        /// Where it could not go on.
        var place: String {
            let before = String(decoding: text[..<generation.bytes].suffix(40), as: UTF8.self)
            return "after \(counted(generation.bytes, "byte")): \(before)"
        }
    }

    private static let listed = 20
    private let schema: Schema
    private let grammar: AnswerGrammar
    private let draft: String
    private let notes: [(member: String, what: String, mentions: [SchemaMention])]
    private var instances: [Instance] = []

    init(_ schema: Schema, _ grammar: AnswerGrammar) {
        self.schema = schema
        self.grammar = grammar
        draft = schema[schema.root].draft.name
        notes = [
            (
                "unknown_keywords",
                "is no keyword of the draft; jobs refuse it unless it is a known annotation",
                schema.unknownKeywords
            ),
            ("unknown_formats", "is a format that can't be checked", schema.unknownFormats),
            ("ignored_keywords", "has no effect there", schema.ignoredKeywords),
            (
                "validated", "is checked when an answer is finished, as masks can't decide it",
                grammar.validated
            ),
        ]
    }

    mutating func add(_ value: JSONValue, line: Int) {
        let text = grammar.text(of: value)
        instances.append(
            Instance(
                line: line, violations: schema.violations(of: value, assertsFormats: true),
                generation: grammar.generation(of: text), text: text))
    }

    private var followers: Int { instances.count { $0.violations.isEmpty } }
    private var possible: Int { instances.count { $0.generation.isPossible } }
    /// Whether an instance doesn't follow, or follows and can't be generated.
    var hasOthers: Bool { instances.contains { !$0.violations.isEmpty || !$0.generation.isPossible } }

    var text: String {
        var lines: [Message] = ["the schema can be used (\(draft))"]
        if grammar.validated.isEmpty { lines.append("masks decide all of it while an answer is generated") }
        for (_, what, mentions) in notes {
            lines += mentions.prefix(Self.listed).map { "\($0.pointer): \($0.name) \(what)" }
            if mentions.count > Self.listed { lines.append("and \(mentions.count - Self.listed) more") }
        }
        lines.append(
            "an answer takes \(counted(grammar.leastTokens, "token")) or more; the shortest is \(grammar.example)"
        )
        for instance in instances {
            lines += instance.violations.map {
                "line \(instance.line), \($0.instance.isEmpty ? "the whole" : $0.instance): \($0.text) (\($0.schema))"
            }
            if instance.violations.isEmpty, !instance.generation.isPossible {
                lines.append("line \(instance.line) can't be generated \(instance.place)")
            }
        }
        if !instances.isEmpty {
            lines.append(
                "\(counted(instances.count, "instance")): \(followers) follow it, \(instances.count - followers) do not; \(possible) could be generated"
            )
        }
        return lines.joined(separator: "\n").text
    }

    /// What is said of a schema that can't be used.
    static func refusal(_ pointer: String?, _ problem: String) -> String {
        JSONWriter.object { writer in
            writer.bool("taken", false)
            writer.string("pointer", pointer ?? "#")
            writer.string("problem", problem)
        }.text
    }

    var json: String {
        JSONWriter.object { writer in
            writer.bool("taken", true)
            writer.string("draft", draft)
            for (member, _, mentions) in notes {
                writer.objects(member, mentions) { writer, mention in
                    writer.string("name", mention.name)
                    writer.string("pointer", mention.pointer)
                }
            }
            writer.int("least_tokens", grammar.leastTokens)
            writer.string("example", grammar.example)
            writer.array("instances", instances) { Self.write($1, &$0) }
        }.text
    }

    private static func write(_ instance: Instance, _ writer: inout JSONWriter) {
        writer.object { writer in
            writer.int("line", instance.line)
            writer.bool("valid", instance.violations.isEmpty)
            writer.bool("generated", instance.generation.isPossible)
            writer.int("tokens", instance.generation.tokens)
            if !instance.generation.isPossible { writer.int("generated_bytes", instance.generation.bytes) }
            guard !instance.violations.isEmpty else { return }
            writer.objects("errors", instance.violations) { writer, violation in
                writer.string("instance", violation.instance)
                writer.string("schema", violation.schema)
                writer.string("message", violation.text.text)
            }
        }
    }
}
