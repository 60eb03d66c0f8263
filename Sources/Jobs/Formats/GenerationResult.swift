import JSON

/// Result of one sample of a line, independent of the output's format. The log stores it, and a `ResultFormat`
/// writes it.
package struct GenerationResult: Sendable, Equatable {
    package enum Content: Sendable {
        case made(any TaskResult)
        case failed(Failure)
    }

    package var content: Content
    /// The only part that differs between two runs of a job; nil if it was not measured.
    package var timing: Timing?
    package var kept: [CarriedValue] = []

    /// A field copied from the line.
    package struct CarriedValue: Sendable, Equatable {
        package var name: String
        package var json: String
    }

    package struct Failure: Sendable {
        package var error: LineError
        /// The input's file; nil if there is only one.
        package var file: String?
        /// Line number in its file, from 1.
        package var line: Int
        /// The answer that broke its constraint; nil if there is none.
        package var text: String?

        package init(_ error: LineError, file: String? = nil, line: Int, text: String? = nil) {
            (self.error, self.file, self.line, self.text) = (error, file, line, text)
        }
    }
}

extension GenerationResult {
    package init(_ made: any TaskResult, timing: Timing? = nil, kept: [CarriedValue] = []) {
        self.init(content: .made(made), timing: timing, kept: kept)
    }

    package static func failure(_ failure: Failure, kept: [CarriedValue] = []) -> Self {
        Self(content: .failed(failure), kept: kept)
    }

    package static func == (a: Self, b: Self) -> Bool { a.bytes == b.bytes }

    /// The task's result; nil if it failed.
    package var made: (any TaskResult)? {
        if case .made(let made) = content { made } else { nil }
    }

    /// Nil if it didn't fail.
    package var failure: Failure? {
        if case .failed(let failure) = content { failure } else { nil }
    }

    package var isFailed: Bool { made == nil }

    package var completionTokens: Int { made?.completionTokens ?? 0 }

    /// Without the part that differs between two runs of a job.
    package var withoutTiming: GenerationResult {
        var result = self
        result.timing = nil
        return result
    }
}

// MARK: As JSON

/// Selection of a result's members.
package enum ResultMembers: Sendable {
    /// All, from which the result can be read again.
    case log
    /// Members of an output's row, without the seed.
    case row
    /// Only the data, in a plain form.
    case data
}

/// Members of a JSON object.
///
///     <members, see the task's result><kept>[,"timing":{…}]
///     "error":{"code","message"[,"file"],"line"[,"text"]}<kept>
///
/// Members with any other name are kept fields of the input's line; in a row they come first. Only `timing`, at the
/// end, differs from run to run.
extension GenerationResult {
    package func write(_ members: ResultMembers = .log, to writer: inout JSONWriter) {
        func writeKept() { for value in kept { writer.raw(value.name, value.json) } }
        if members != .log { writeKept() }
        switch content {
        case .made(let made): made.write(members, to: &writer)
        case .failed(let failure): failure.write(to: &writer)
        }
        if members == .log { writeKept() }
        timing?.write(to: &writer)
    }

    /// The object of all its members, by which results are compared.
    package var bytes: [UInt8] { JSONWriter.object { write(to: &$0) }.bytes }
}

extension GenerationResult.Failure {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.object("error") { writer in
            writer.string("code", error.code.rawValue)
            writer.string("message", error.message)
            if let file { writer.string("file", file) }
            writer.int("line", line)
            if let text { writer.string("text", text) }
        }
    }

    fileprivate init?(_ json: JSONValue) {
        guard let code = json.string("code").flatMap({ LineError.Code(rawValue: $0) }),
            let message = json.string("message"), let line = json.int("line")
        else { return nil }
        self.init(
            LineError(code, message), file: json.string("file"), line: line, text: json.string("text"))
    }
}

/// Reads members that a result has written for a log, in that order. The first one identifies the task, or an error;
/// after the counts, or the error, other names than those of results are the line's.
struct ResultReader {
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
        if let error = log["error"] {
            return GenerationResult.Failure(error).map { .failure($0, kept: kept) }
        }
        guard let made = task?.made.init(log) else { return nil }
        return GenerationResult(made, timing: log["timing"].map { .init($0) }, kept: kept)
    }
}
