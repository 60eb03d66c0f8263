import JSONSchema
import Testing

@testable import TokenConstraints

/// Compiling a form takes so many steps and no more.
@Suite struct CompileEffortTests {
    /// Each pattern's automaton is near the limit for one; but for the last one's.
    private static let costly =
        #"{"type":"object","properties":{"#
        + HostileSchemaTests.list(300) {
            #""p\#($0)":{"type":"string","pattern":"^(.*b.{\#(10 + $0 % 3)}\#($0))"}"#
        }
        + #","last":{"type":"string","pattern":"^a$"}}}"#

    private func validated(_ effort: CompileEffort) throws -> [String] {
        try SchemaShape(Schema(Shaped.value(Self.costly)), effort: effort).validated.map(\.pointer)
    }

    @Test func whatIsBeyondIsLeftToValidation() throws {
        let all = try validated(CompileEffort(steps: 4_000_000))
        #expect(all.contains("#/properties/last"), "\(all.suffix(3))")
        // It depends on nothing but the schema.
        #expect(try validated(CompileEffort(steps: 4_000_000)) == all)
        let more = try validated(CompileEffort(steps: .max))
        #expect(!more.contains { $0.hasPrefix("#/properties/last") })
    }

    /// Before, each of 1,000 values was held against 2^40 ways.
    @Test func valuesOfEnumerationsAreHeldAgainstSchemasOnce() throws {
        let ways = HostileSchemaTests.list(40) {
            let next = ##"{"$ref":"#/$defs/a\##($0 + 1)"}"##
            return #""a\#($0)":{"anyOf":[\#(next),\#(next)]}"#
        }
        let schema =
            #"{"enum":[\#(HostileSchemaTests.list(1000) { #"{"a":\#($0)}"# })],"#
            + ##""anyOf":[{"$ref":"#/$defs/a0"},{"type":"object"}],"$defs":{\##(ways),"a40":{"type":"string"}}}"##
        let effort = CompileEffort()
        let shape = try SchemaShape(Schema(Shaped.value(schema)), effort: effort)
        #expect(shape.validated.isEmpty && !effort.isUsedUp)
    }
}
