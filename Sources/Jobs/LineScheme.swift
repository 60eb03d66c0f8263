import BatchEngine
import Essentials
import JSON

/// What makes a line the same again: that of it which its result depends on.
///
/// What runs leave says by which schemes lines are known in it, so that a result is found again by a job that uses
/// other fields, and by a later version.
package enum LineScheme: Sendable, Hashable {
    /// All bytes of it: of versions that knew no other. Files that name no scheme have this one.
    case bytes
    case content(Content)

    package struct Content: Sendable, Hashable {
        /// Fields that the job's templates name, or its results keep.
        var fields: [String]
        /// Fields that are settings of a line.
        var settings: [String]
        /// Whether all other fields count too: those but these. Nil where they don't.
        var allBut: [String]?
    }

    /// - Throws: `JobError` if a template of the job is malformed.
    package init(_ job: JobSettings) throws {
        var fields = try LinePreparer(job).names
        if case .fields(let kept) = job.keep { fields += kept.map(\.name) }
        self = .content(
            Content(
                fields: Self.sorted(fields),
                settings: Self.settings,
                allBut: job.keep == .all ? Self.sorted(Array(KeptFields.resultNames(of: job.task))) : nil))
    }

    /// Fields that were settings of a line when files began to list them.
    private static let settings = [
        "choices", "frequency_penalty", "logit_bias", "max_tokens", "messages", "min_p", "presence_penalty",
        "regex", "repetition_penalty", "response_format", "schema", "seed", "stop", "temperature", "top_k",
        "top_p",
    ]
    private static let laterSettings = RequestSetting.all(in: .line).filter { !settings.contains($0.name) }
    private static let laterNames = Set(laterSettings.map(\.name) + AnswerKeys.names)

    /// Settings that came later count where a line asks something with them, so that files stay as they are.
    fileprivate static func laterSettings(of line: JSONObject) -> [String] {
        // As most have none.
        guard line.hasAny(of: laterNames) else { return [] }
        return laterSettings.filter { setting in
            guard let value = line[setting.name], value != .null else { return false }
            var asked = RequestSettings()
            do throws(SettingProblem) { try value.read(setting, into: &asked) } catch { return true }
            return setting.changes(asked)
        }.map(\.name) + AnswerKeys.names.filter { !settings.contains($0) && line[$0] ?? .null != .null }
    }

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
    ///   - content: nil of a line that can't be read.
    func hash(of line: InputRecord, _ id: String?, _ content: LineContent?) -> UInt64 {
        guard case .content(let scheme) = self, let content, content.fault == nil,
            case .object(let members) = content.fields
        else { return LineHash.value(of: line.bytes) }
        return scheme.hash(of: members, id, content.request)
    }
}

extension LineScheme.Content {
    fileprivate func hash(of line: JSONObject, _ id: String?, _ request: OpenAIRequest?) -> UInt64 {
        var hash = LineHash()
        hash.add(.string("phibatch line"))
        // Where results have ids made of the hash, those of two lines differ.
        hash.add(id.map { .string($0) })
        for name in fields { hash.add(line[name]) }
        let isResult = EarlierStep.isResult(.object(line))
        for name in settings + LineScheme.laterSettings(of: line) {
            guard let value = line[name],
                PromptRecord.isSetting(JSONMember(name: name, value: value), isResult)
            else { continue }
            hash.add(name: name)
            hash.add(value)
        }
        // Token ids are the prompt whatever the templates say; beside messages any prompt says something.
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
            // The job may refuse it.
            for part in request.unsupported { hash.add(name: part.name) }
        }
        return hash.value
    }
}

extension PromptRecord {
    /// Whether a member of a line says how its answer is made.
    /// - Parameter isResult: of an earlier step, which says with which seed it was made: that asks for nothing.
    fileprivate static func isSetting(_ member: JSONMember, _ isResult: Bool) -> Bool {
        switch member.name {
        case "seed": !isResult
        default: AnswerKeys.named(member.name)?.isAsked(by: member.value) ?? true
        }
    }
}

/// In files: a member `lines`, a list.
///
///     "lines":[{"fields":["question","topic"],"settings":["max_tokens",…][,"all_but":["id",…]]},"bytes"]
extension LineScheme {
    /// Nothing if lines are known by their bytes alone.
    static func write(_ schemes: [LineScheme], to writer: inout JSONWriter) {
        guard schemes != [.bytes] else { return }
        writer.array("lines") { writer in
            for scheme in schemes {
                guard case .content(let content) = scheme else {
                    writer.string("bytes")
                    continue
                }
                writer.object { writer in
                    write("fields", content.fields, &writer)
                    write("settings", content.settings, &writer)
                    if let allBut = content.allBut { write("all_but", allBut, &writer) }
                }
            }
        }
    }

    private static func write(_ name: String, _ names: [String], _ writer: inout JSONWriter) {
        writer.array(name) { writer in for name in names { writer.string(name) } }
    }

    /// What can't be read is left out: it is of a later version.
    static func list(in json: JSONValue) -> [LineScheme] {
        guard case .array(let elements)? = json["lines"] else { return [.bytes] }
        return elements.compactMap { element in
            if element == "bytes" { return .bytes }
            guard let fields = names(element["fields"]), let settings = names(element["settings"]) else {
                return nil
            }
            return .content(Content(fields: fields, settings: settings, allBut: names(element["all_but"])))
        }
    }

    private static func names(_ json: JSONValue?) -> [String]? {
        guard case .array(let elements)? = json else { return nil }
        return elements.compactMap { if case .string(let name) = $0 { name } else { nil } }
    }
}

extension [LineScheme] {
    /// With those of others that it lacks.
    package func adding(_ others: [LineScheme]) -> [LineScheme] {
        others.reduce(self) { $0.contains($1) ? $0 : $0 + [$1] }
    }
}
