import BatchEngine
import JSONSchema
import OperatingSystem

/// What answers must look like, compiled for one vocabulary. Requests share it; each has a constraint of its own, and
/// masks are made by as many threads as ask for them.
package final class AnswerGrammar: Sendable {
    /// How JSON is written, and with which members.
    package struct Layout: Hashable, Sendable {
        /// Each member and item on a line of its own, so many spaces deeper than what holds it; as Python's
        /// `json.dumps(value, indent: n)` writes. Nil for no white space at all.
        package var indent: Int?
        package var others = OtherMembers.asAllowed

        package init(indent: Int? = nil, others: OtherMembers = .asAllowed) {
            (self.indent, self.others) = (indent, others)
        }

        package static let compact = Layout()
        package static func indented(_ spaces: Int) -> Layout { Layout(indent: spaces) }
    }

    /// The keywords that masks don't decide, or not wholly: they must be checked on the finished answer.
    package let validated: [SchemaMention]
    /// The least max_tokens under which there is any answer.
    package let leastTokens: Int
    let tokens: TokenTrie
    /// Objects of a schema that may have members whose names the schema doesn't have.
    package var openObjects: [SchemaMention] { schemaShape?.openObjects ?? [] }
    /// Nil if it is no schema's.
    let schemaShape: SchemaShape?
    private let makeWriter: @Sendable () -> any AnswerWriter
    /// The writer and its number; states of another writer mean nothing to it.
    private let current: Guarded<(number: Int, writer: GrammarWriter)>

    /// JSON values that a schema accepts.
    /// - Throws: `ConstraintFault`.
    package convenience init(
        _ schema: Schema, layout: Layout = .compact, tokens: TokenTrie,
        effort: CompileEffort = CompileEffort()
    ) throws(ConstraintFault) {
        let shape = try SchemaShape(schema, others: layout.others, effort: effort)
        try self.init(
            shape.shape, layout: layout, validated: shape.validated, tokens: tokens, schemaShape: shape)
    }

    /// Texts that a regular expression matches as a whole.
    /// - Throws: `ConstraintFault`.
    package convenience init(
        regex: String, tokens: TokenTrie, effort: CompileEffort = CompileEffort()
    ) throws(ConstraintFault) {
        let text = try MachineText(whole: regex, effort)
        let target = MaskTarget(shapes: [.text(text)], fewestBytes: text.fewestBytes(text.start))
        try self.init(
            AnswerShape(targets: [target], root: MaskTargetID(index: 0)), layout: .compact, validated: [],
            tokens: tokens)
    }

    /// Texts of a context-free grammar.
    /// - Throws: `ConstraintFault` that names the line.
    package convenience init(
        _ source: GrammarSource, tokens: TokenTrie, effort: CompileEffort = CompileEffort()
    ) throws(ConstraintFault) {
        let productions = try ProductionBuilder.productions(of: source, effort)
        try self.init(tokens: tokens, validated: [], schemaShape: nil) { Pushdown(productions) }
    }

    convenience init(
        _ shape: AnswerShape, layout: Layout, validated: [SchemaMention], tokens: TokenTrie,
        schemaShape: SchemaShape? = nil
    ) throws(ConstraintFault) {
        try self.init(tokens: tokens, validated: validated, schemaShape: schemaShape) {
            JSONAutomaton(shape, layout: layout)
        }
    }

    private init(
        tokens: TokenTrie, validated: [SchemaMention], schemaShape: SchemaShape?,
        makeWriter: @escaping @Sendable () -> any AnswerWriter
    ) throws(ConstraintFault) {
        self.schemaShape = schemaShape
        self.validated = validated
        self.tokens = tokens
        self.makeWriter = makeWriter
        let writer = GrammarWriter(makeWriter(), tokens: tokens)
        current = Guarded((0, writer))
        guard let plan = writer.plan(writer.writer.start) else {
            throw ConstraintFault(.unsatisfiable, "the model's vocabulary has no tokens to write it with")
        }
        leastTokens = max(1, plan.count)
    }

    /// Before the first token of a completion.
    /// - Parameter maxTokens: of the completion, the end of sequence not counted; at least `leastTokens`.
    package func constraint(maxTokens: Int) -> any Constraint {
        GrammarConstraint(self, maxTokens: maxTokens)
    }

    /// - Parameter body: is given the writer and its number; states of another writer mean nothing to it.
    func withWriter<T>(_ body: (Int, GrammarWriter) -> T) -> T {
        let (number, writer) = current.withLock { ($0.number, $0.writer) }
        guard writer.isLarge else { return body(number, writer) }
        let new = GrammarWriter(makeWriter(), tokens: tokens, former: writer.writer)
        let next = current.withLock { current in
            // Unless another thread was here first.
            if current.number == number { current = (number + 1, new) }
            return (current.number, current.writer)
        }
        // To free what it keeps takes milliseconds, which no step should wait for. If no thread can be had, one does.
        try? WorkerThread.start("phibatch frees", givesWay: true) { withExtendedLifetime(writer) {} }
        return body(next.0, next.1)
    }
}
