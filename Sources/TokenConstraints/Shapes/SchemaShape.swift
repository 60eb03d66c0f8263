import JSON
import JSONSchema

/// What answers that follow a schema look like, as far as that can be told while they are written.
package struct SchemaShape: Sendable {
    let shape: AnswerShape
    /// Keywords that the shapes don't decide, or not wholly: they are checked on the finished answer.
    package let validated: [SchemaMention]
    /// Objects that may have members whose names the schema doesn't have.
    package let openObjects: [SchemaMention]
    let literals: TextBuilder.CompoundLiterals
    /// Whether 1.0 is no integer, and so must not be written as 1.
    private let keepsFractions: Bool

    /// - Throws: `ConstraintFault`, if no value obeys the schema or it goes beyond a limit.
    package init(
        _ schema: Schema, others: OtherMembers = .asAllowed, effort: CompileEffort = CompileEffort()
    ) throws(ConstraintFault) {
        for node in schema.nodes where node.rules.enumeration?.values.count ?? 0 > ShapeLimits.literals {
            throw TextBuilder.tooManyLiterals(at: node.pointer)
        }
        let builder = ShapeBuilder(schema, effort, others)
        guard let root = try builder.draft() else {
            throw ConstraintFault(
                .unsatisfiable, at: schema[schema.root].pointer, "no value obeys this schema: it is false")
        }
        try builder.countBytes()
        guard builder.drafts[root].fewestBytes != nil else {
            // Some schemas have no answers without members that they don't name.
            if others == .ifAsked, let open = try? SchemaShape(schema, others: .apart, effort: effort) {
                self = open
                return
            }
            throw builder.reason(root)
        }
        (shape, validated, openObjects) = builder.result(root)
        literals = builder.reader.texts.compounds
        keepsFractions = schema[schema.root].draft == .draft4
    }

    /// A value as it would be written: `ordered`, in compact form.
    package func text(of value: JSONValue) -> [UInt8] {
        TextBuilder.text(of: ordered(value), keepsFractions: keepsFractions)
    }
}

/// Members beside those that a schema names in `properties` and `required`.
package enum OtherMembers: Hashable, Sendable {
    /// Wherever JSON Schema allows them.
    case asAllowed
    /// The same, but for names that begin with one that the schema has.
    case apart
    /// Like `apart`, and only where the schema says something of them: `additionalProperties`, `patternProperties` or
    /// `unevaluatedProperties`, or no member has a name.
    case ifAsked
}
