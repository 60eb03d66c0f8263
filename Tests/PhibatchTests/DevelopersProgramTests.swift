import Foundation
import Testing

/// `phibatch-dev`, which is built with the tests.
@Suite(.enabled(if: Program.path != nil, "the program is not built"))
struct DevelopersProgramTests {
    @Test func aSuiteOfSchemasIsCounted() throws {
        let scratch = try ScratchFolder()
        let path = scratch.path + "/schemas.jsonl"
        try #"""
        {"name": "a", "schema": {"type": "integer"}, "tests": [{"valid": true, "data": 1}, {"valid": false, "data": "1"}, {"valid": false, "data": 2}]}
        {"name": "b", "schema": {"$ref": "#/nowhere"}, "tests": []}
        """#.write(toFile: path, atomically: true, encoding: .utf8)
        let run = try Program.run(["schemas", path], suffix: "-dev")
        #expect(run.status == 1, "\(run.errors)")
        let counts = """
            2 schemas: 1 can be used, 1 with masks alone; refused: 1 $ref
            1 valid instances, of which 0 are rejected
            2 invalid instances, of which 1 could be generated and 1 are accepted

            """
        #expect(run.output.hasPrefix(counts), "\(run.output)")
        #expect(try Program.run(["schemas", path + "x"], suffix: "-dev").status != 0)
    }
}
