import JSON
import JSONSchema

/// What answers that follow a schema look like, as far as that can be told while they are written.
package struct SchemaShape: Sendable {
    package let shape: AnswerShape
    /// Keywords that the shapes don't decide, or not wholly: they are checked on the finished answer.
    package let validated: [SchemaMention]
    let literals: TextBuilder.CompoundLiterals
    /// Whether 1.0 is no integer, and so must not be written as 1.
    private let keepsFractions: Bool

    /// - Throws: `ConstraintFault`, if no value obeys the schema or it goes beyond a limit.
    package init(_ schema: Schema, effort: CompileEffort = CompileEffort()) throws(ConstraintFault) {
        for node in schema.nodes where node.rules.enumeration?.values.count ?? 0 > ShapeLimits.literals {
            throw TextBuilder.tooManyLiterals(at: node.pointer)
        }
        let builder = ShapeBuilder(schema, effort)
        guard let root = try builder.draft() else {
            throw ConstraintFault(
                .unsatisfiable, at: schema[schema.root].pointer, "no value obeys this schema: it is false")
        }
        try builder.countBytes()
        guard builder.drafts[root].fewestBytes != nil else { throw builder.reason(root) }
        (shape, validated) = builder.result(root)
        literals = builder.reader.texts.compounds
        keepsFractions = schema[schema.root].draft == .draft4
    }

    /// A value as it would be written: `ordered`, in compact form.
    package func text(of value: JSONValue) -> [UInt8] {
        TextBuilder.text(of: ordered(value), keepsFractions: keepsFractions)
    }
}
