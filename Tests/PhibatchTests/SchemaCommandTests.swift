import Foundation
import Testing

/// Schemas and instances judged by the real program.
@Suite(.enabled(if: Program.path != nil, "the program is not built"))
struct SchemaCommandTests {
    private func folder(_ files: [String: String]) throws -> String {
        let folder = FileManager.default.temporaryDirectory.path + "/phibatch-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for (name, text) in files {
            try text.write(toFile: folder + "/" + name, atomically: true, encoding: .utf8)
        }
        return folder
    }

    private static let schema = #"""
        {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "x-note": 1,
         "properties": {"age": {"type": "integer", "minimum": 0}, "day": {"format": "date"}},
         "required": ["age"]}
        """#

    @Test func instancesAreJudged() throws {
        let folder = try folder([
            "s.json": Self.schema,
            "in.jsonl": #"""
            {"age": 3}
            {"age": -1, "day": "2026-02-30"}

            [1]
            """#,
        ])
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let run = try Program.run(["schema", "s.json", "--check", "in.jsonl"], folder: folder)
        #expect(run.status == 1, "\(run.errors)")
        #expect(run.output.hasPrefix("the schema can be used (draft 7)\n"))
        #expect(run.output.contains("#/x-note: x-note is no keyword"), "\(run.output)")
        #expect(run.output.contains("line 2, /age: ") && run.output.contains("line 2, /day: "))
        #expect(run.output.contains("line 4, the whole: "))
        #expect(
            run.output.hasSuffix("3 instances: 1 follow it, 2 do not; 1 could be generated\n"),
            "\(run.output)")
        let json = try Program.run(["schema", "s.json", "--check", "in.jsonl", "--json"], folder: folder)
        #expect(
            json.status == 1 && json.output.contains(#"{"line":1,"valid":true,"generated":true,"tokens":9}"#),
            "\(json.output)")
        #expect(try Program.run(["schema", "s.json"], folder: folder).status == 0)
    }

    @Test(arguments: [
        (#"{"$ref": "http://example.com/a"}"#, "the schema at #/$ref: "),
        (#"{"properties": {"a": {"pattern": "(?=a)"}}}"#, "the schema at #/properties/a/pattern: "),
        (#"{"type": "text"}"#, "the schema at #/type: "), ("{", "is not valid JSON"),
        (#"{"allOf": [{"type": "string"}, {"type": "null"}]}"#, "#: no value obeys this schema"),
    ])
    func whatCannotBeUsedSaysWhere(schema: String, message: String) throws {
        let folder = try folder(["s.json": schema])
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let run = try Program.run(["schema", "s.json"], folder: folder)
        #expect(run.status == 65 && run.errors.contains("s.json: \(message)"), "\(run.errors)")
        #expect(run.errors.split(separator: "\n").count == 1)
        let json = try Program.run(["schema", "s.json", "--json"], folder: folder)
        #expect(
            json.status == 65 && json.output.hasPrefix(schema == "{" ? "" : #"{"taken":false,"pointer":"#))
    }

    @Test func aSuiteIsCounted() throws {
        let folder = try folder([
            "suite.jsonl": #"""
            {"name": "a", "schema": {"type": "integer"}, "tests": [{"valid": true, "data": 1}, {"valid": false, "data": "1"}, {"valid": false, "data": 2}]}
            {"name": "b", "schema": {"$ref": "#/nowhere"}, "tests": []}
            """#
        ])
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let run = try Program.run(["schema", "--suite", "suite.jsonl", "--json"], folder: folder)
        #expect(run.status == 1, "\(run.errors)")
        let expected =
            #"{"schemas":2,"taken":1,"fully_masked":1,"refused":{"$ref":1},"valid_instances":1,"valid_rejected":0,"invalid_instances":2,"invalid_accepted_by_mask":1,"invalid_accepted":1,"mask_us":"#
        #expect(run.output.hasPrefix(expected), "\(run.output)")
        #expect(try Program.run(["schema"], folder: folder).status == 64)
    }
}
