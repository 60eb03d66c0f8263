import BatchEngine
import FoundationShim
import JSON
import OperatingSystem

/// The members of a line that its result depends on: equal ones make it the same line.
///
/// Files of a run name their schemes, so that a job that uses other fields finds a result again.
package struct LineScheme: Sendable, Hashable {
    /// Fields that the job's templates name, or its results keep.
    let fields: [String]
    /// Exceptions, if all other fields count too; else nil.
    let allBut: [String]?

    package init(fields: [String] = [], allBut: [String]? = nil) {
        (self.fields, self.allBut) = (fields, allBut)
    }

    /// - Throws: `UserError` if a template of the job is malformed.
    package init(_ job: JobSettings) throws {
        var fields = try LinePreparer(job).names
        if case .fields(let kept) = job.keep { fields += kept.map(\.name) }
        self.init(
            fields: Self.sorted(fields),
            allBut: job.keep == .all ? Self.sorted(Array(KeptFields.resultNames(of: job.task))) : nil)
    }

    /// Fields that are settings of a line. Only those that a line has are hashed, so new ones may be added here.
    static let settings = sorted(LineReading.names + ["choices", "messages", "system"])

    /// By their bytes, each once.
    private static func sorted(_ names: [String]) -> [String] {
        var sorted: [String] = []
        for name in names.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) })
        where sorted.last.map({ !$0.utf8.elementsEqual(name.utf8) }) ?? true {
            sorted.append(name)
        }
        return sorted
    }

    /// - Parameters:
    ///   - id: the line's own; nil if it has none.
    ///   - content: nil for an unreadable line.
    /// - Returns: the digest of these members, or of all bytes of an unreadable line.
    func digest(of record: InputRecord, _ id: String?, _ content: LineContent?) -> UInt64 {
        guard let content, content.fault == nil, case .object(let line) = content.fields else {
            return SHA.short(of: record.bytes)
        }
        var digest = Digest("phibatch line")
        // Ids made of the digest must differ between lines.
        digest.append(id.map { .string($0) })
        for name in fields { digest.append(line[name]) }
        let isResult = content.fields.isResult
        for name in Self.settings {
            guard let value = line[name], value != .null,
                // The seed in an earlier step's result is no setting.
                !(isResult && name == "seed"), AnswerKey.named(name)?.isAsked(value) ?? true
            else { continue }
            digest.append(name)
            digest.append(value)
        }
        // Token ids are the prompt in spite of templates; beside messages, any prompt counts.
        if case .array? = line["prompt"] {
            digest.append(line["prompt"])
        } else if line["messages"] != nil {
            digest.append(.bool(line["prompt"] != nil))
        }
        if let allBut {
            let others = Set(allBut)
            for member in line where !others.contains(member.name) {
                digest.append(member.name)
                digest.append(member.value)
            }
        }
        if let request = content.request {
            digest.append(request.endpoint.rawValue)
            digest.append(request.choices.map { .int($0) })
            digest.append(request.logprobs.map { .int($0) })
            if request.echoes { digest.append("echo") }
            if request.asksNothing { digest.append("max_tokens: 0") }
            // The job may refuse it.
            for part in request.unsupported { digest.append(part.name) }
        }
        return digest.short
    }
}

/// In a log's header: `{"fields":["question","topic"][,"all_but":["id",…]]}`
extension LineScheme {
    func write(to writer: inout JSONWriter) {
        writer.array("fields", fields) { $0.string($1) }
        if let allBut { writer.array("all_but", allBut) { $0.string($1) } }
    }

    init?(_ json: JSONValue) {
        guard let fields = json["fields"]?.texts else { return nil }
        self.init(fields: fields, allBut: json["all_but"]?.texts)
    }
}

extension [LineScheme] {
    /// Returns the schemes, and those of others that are missing.
    package func adding(_ others: [LineScheme]) -> [LineScheme] {
        others.reduce(self) { $0.contains($1) ? $0 : $0 + [$1] }
    }
}

extension Digest {
    /// Adds a value as JSON: numbers count by their text, objects with their members in order.
    /// - Parameter value: nil differs from all values.
    mutating func append(_ value: JSONValue?) {
        var writer = JSONWriter()
        if let value { writer.value(value) }
        append(writer.bytes)
    }
}
