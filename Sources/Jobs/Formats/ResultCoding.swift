import JSON

/// Selection of a result's members.
package enum ResultMembers: Sendable {
    /// All, from which the result can be read again.
    case log
    /// Members of an output's row, without the seed.
    case row
    /// Only the data, in a plain form.
    case data
}

/// Encoding of a result as members of a JSON object.
///
///     <members, see the task's result><kept>[,"timing":{…}]
///     "error":{"code","message"[,"file"],"line"[,"text"]}<kept>
///
/// Members with any other name are kept fields of the input's line; in a row they come first. Only `timing`, at the
/// end, differs from run to run.
package enum ResultCoding {
    package static func write(
        _ result: GenerationResult, _ members: ResultMembers = .log, to writer: inout JSONWriter
    ) {
        func writeKept() { for value in result.kept { writer.raw(value.name, value.json) } }
        if members != .log { writeKept() }
        switch result.content {
        case .made(let made): made.write(members, to: &writer)
        case .failed(let failure): write(failure, &writer)
        }
        if members == .log { writeKept() }
        result.timing?.write(to: &writer)
    }

    /// Returns the object of all its members, by which results are compared.
    package static func bytes(of result: GenerationResult) -> [UInt8] {
        JSONWriter.object { write(result, to: &$0) }.bytes
    }

    /// - Parameter reasoning: tokens of the reasoning before an answer.
    static func writeUsage(
        of result: some TaskResult, reasoning: Int? = nil, _ writer: inout JSONWriter
    ) {
        writer.object("usage") { writer in
            writer.int("prompt_tokens", result.promptTokens)
            writer.int("completion_tokens", result.completionTokens)
            if let reasoning { writer.int("reasoning_tokens", reasoning) }
        }
    }

    static func write(_ tokens: [Int32], _ writer: inout JSONWriter) {
        writer.array("tokens") { writer in for token in tokens { writer.int(token) } }
    }

    static func write(_ provenance: [String: String], _ writer: inout JSONWriter) {
        guard !provenance.isEmpty else { return }
        writer.object("provenance") { writer in
            for (name, value) in provenance.sorted(by: { $0.key < $1.key }) { writer.string(name, value) }
        }
    }

    private static func write(_ failure: GenerationResult.Failure, _ writer: inout JSONWriter) {
        writer.object("error") { writer in
            writer.string("code", failure.error.code.rawValue)
            writer.string("message", failure.error.message)
            if let file = failure.file {
                writer.string("file", file)
            }
            writer.int("line", failure.line)
            if let text = failure.text { writer.string("text", text) }
        }
    }
}

extension ResultCoding {
    /// Members that `write` has written for a log, in that order. The first one identifies the task, or an error; after the
    /// counts, or the error, other names than those of results are the line's.
    struct Members {
        private var own: [JSONMember] = []
        private var kept: [GenerationResult.CarriedValue] = []
        private var task: JobTask?
        private var isOwn = true

        mutating func take(
            _ name: UnsafeBufferPointer<UInt8>, from scanner: inout JSONScanner
        ) throws(JSONFault) {
            let name = String(decoding: name, as: UTF8.self)
            if own.isEmpty { task = JobTask.named(byFirst: name) }
            if isOwn || task?.resultNames.contains(name) == true || KeptFields.commonNames.contains(name) {
                own.append(JSONMember(name: name, value: try scanner.value()))
            } else {
                kept.append(.init(name: name, json: try scanner.skippedText()))
            }
            if name == "usage" || name == "error" { isOwn = false }
        }

        /// Nil if they are no result.
        var result: GenerationResult? {
            let log = JSONValue.object(JSONObject(distinct: own))
            if let error = log["error"] { return failure(error).map { .failure($0, kept: kept) } }
            guard let made = task?.type.made.init(log) else { return nil }
            return GenerationResult(made, timing: log["timing"].map { .init($0) }, kept: kept)
        }
    }

    private static func failure(_ json: JSONValue) -> GenerationResult.Failure? {
        guard let code = json.string("code").flatMap({ LineError.Code(rawValue: $0) }),
            let message = json.string("message"), let line = json.int("line")
        else { return nil }
        return .init(
            LineError(code, message), file: json.string("file"), line: line, text: json.string("text"))
    }

    /// Counts of tokens; nil if one is missing, or none that a result can have.
    static func usage(_ usage: JSONValue?) -> (prompt: Int, completion: Int, reasoning: Int?)? {
        guard let usage, let prompt = usage.int("prompt_tokens"),
            let completion = usage.int("completion_tokens"),
            case let reasoning = usage.int("reasoning_tokens"),
            [prompt, completion, reasoning ?? 0].allSatisfy({ 0...Int(Int32.max) ~= $0 })
        else { return nil }
        return (prompt, completion, reasoning)
    }

    static func provenance(of log: JSONValue) -> [String: String] {
        guard case .object(let facts)? = log["provenance"] else { return [:] }
        return facts.reduce(into: [:]) { all, fact in
            if case .string(let value) = fact.value { all[fact.name] = value }
        }
    }
}
