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
    /// - Returns: the hash of these members, or of all bytes of an unreadable line.
    func hash(of line: InputRecord, _ id: String?, _ content: LineContent?) -> UInt64 {
        guard let content, content.fault == nil, case .object(let members) = content.fields else {
            return SHA.short(of: line.bytes)
        }
        return hash(of: members, id, content.request)
    }

    private func hash(of line: JSONObject, _ id: String?, _ request: OpenAIRequest?) -> UInt64 {
        var hash = LineHash()
        hash.add(.string("phibatch line"))
        // Ids made of the hash must differ between lines.
        hash.add(id.map { .string($0) })
        for name in fields { hash.add(line[name]) }
        let isResult = JSONValue.object(line).isResult
        for name in Self.settings {
            guard let value = line[name], value != .null,
                // The seed in an earlier step's result is no setting.
                !(isResult && name == "seed"), AnswerKey.named(name)?.isAsked(value) ?? true
            else { continue }
            hash.add(name: name)
            hash.add(value)
        }
        // Token ids are the prompt in spite of templates; beside messages, any prompt counts.
        if case .array? = line["prompt"] {
            hash.add(line["prompt"])
        } else if line["messages"] != nil {
            hash.add(.bool(line["prompt"] != nil))
        }
        if let allBut {
            let others = Set(allBut)
            for member in line where !others.contains(member.name) {
                hash.add(name: member.name)
                hash.add(member.value)
            }
        }
        if let request {
            hash.add(.string(request.endpoint.rawValue))
            hash.add(request.choices.map { .int($0) })
            hash.add(request.logprobs.map { .int($0) })
            if request.echoes { hash.add(name: "echo") }
            if request.asksNothing { hash.add(name: "max_tokens: 0") }
            // The job may refuse it.
            for part in request.unsupported { hash.add(name: part.name) }
        }
        return hash.value
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

/// Hash of values, each with its kind and length, so that different lists have different bytes. It is the same on every
/// machine. Numbers are hashed by their text, objects with their members in order.
struct LineHash {
    private enum ValueTag: UInt8 {
        case null, bool, number, string, array, object, name, none
    }

    private var bytes: [UInt8] = []

    var value: UInt64 { SHA.short(of: bytes) }

    mutating func add(name: String) { add(.name, name) }

    /// - Parameter value: nil differs from all values.
    mutating func add(_ value: JSONValue?) {
        switch value {
        case nil: add(.none, 0)
        case .null?: add(.null, 0)
        case .bool(let flag)?: add(.bool, flag ? 1 : 0)
        case .int(let number)?: add(.number, String(number))
        case .number(let number)?: add(.number, number.text)
        case .string(let text)?: add(.string, text)
        case .array(let elements)?:
            add(.array, elements.count)
            for element in elements { add(element) }
        case .object(let members)?:
            add(.object, members.count)
            for member in members {
                add(name: member.name)
                add(member.value)
            }
        }
    }

    private mutating func add(_ kind: ValueTag, _ count: Int) {
        bytes.append(kind.rawValue)
        withUnsafeBytes(of: UInt64(count).littleEndian) { bytes += $0 }
    }

    private mutating func add(_ kind: ValueTag, _ text: String) {
        add(kind, text.utf8.count)
        bytes += text.utf8
    }
}
