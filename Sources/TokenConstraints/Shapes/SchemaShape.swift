import JSON
import JSONSchema

/// The shape of answers under a schema, as far as writing can follow it.
package struct SchemaShape: Sendable {
    let shape: AnswerShape
    /// Keywords that the shapes decide partly or not at all: they are validated on the finished answer.
    package let validated: [SchemaMention]
    /// Objects that may have unnamed members.
    package let openObjects: [SchemaMention]
    let literals: TextBuilder.CompoundLiterals
    /// Whether 1.0 is no integer, and so must not be written as 1.
    private let keepsFractions: Bool

    /// - Throws: `ConstraintFault` if no value obeys the schema or it exceeds a limit.
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

    /// A value as it would be written, in compact form. Where no answer is like it, its members stay as they are.
    package func text(of value: JSONValue) -> [UInt8] {
        TextBuilder.text(of: fitting(value) ?? value, keepsFractions: keepsFractions)
    }
}

/// Members besides those that a schema names in `properties` and `required`.
package enum OtherMembers: Hashable, Sendable {
    /// Wherever JSON Schema allows them.
    case asAllowed
    /// The same, except names that begin with a name in the schema.
    case apart
    /// Like `apart`, and only where the schema mentions them: `additionalProperties`, `patternProperties` or
    /// `unevaluatedProperties`, or no member has a name.
    case ifAsked
}
