import BatchEngine
import JSON

/// Result of one sample of a line, whatever the output's format: members of a JSON object, in the order of the log. A
/// task makes them, the log has them all, and an output those that its `ResultDetail` shows.
///
///     <members, see the tasks><kept>[,"timing":{…}]
///     "error":{"code","message"[,"file"],"line"[,"text"]}<kept>
///
/// Only `timing` differs from run to run.
package struct GenerationResult: Sendable, Equatable {
    /// Members that a task has made, or an error; without times.
    package var own: JSONObject
    /// Times by the names of `ResultTime`; nil if none was measured.
    package var timing: JSONObject?
    /// Fields copied from the line.
    package var kept: JSONObject

    package init(_ own: JSONObject, timing: JSONObject? = nil, kept: JSONObject = [:]) {
        (self.own, self.timing, self.kept) = (own, timing, kept)
    }

    /// - Parameter step: a step's result in that of a row.
    package init(step: JSONValue) {
        if case .object(let own) = step { self.init(own) } else { self.init([:]) }
    }

    /// - Parameters:
    ///   - file: the input's file; nil if there is only one.
    ///   - line: the line's number in its file, from 1.
    ///   - text: the answer that broke its constraint; nil if there is none.
    package static func failure(
        _ error: LineError, file: String? = nil, line: Int, text: String? = nil, kept: JSONObject = [:]
    ) -> Self {
        var members: JSONObject = ["code": .string(error.code.rawValue), "message": .string(error.message)]
        members["file"] = file.map { .string($0) }
        members["line"] = .int(line)
        members["text"] = text.map { .string($0) }
        return Self(["error": .object(members)], kept: kept)
    }

    package static func == (a: Self, b: Self) -> Bool { a.bytes == b.bytes }

    private var json: JSONValue { .object(own) }

    /// The error's members; nil if it didn't fail.
    package var error: JSONValue? { own["error"] }
    package var isFailed: Bool { error != nil }
    /// Nil if it didn't fail.
    package var failure: LineError? {
        guard let message = error?.string("message"),
            let code = error?.string("code").flatMap({ LineError.Code(rawValue: $0) })
        else { return nil }
        return LineError(code, message)
    }
    /// The completion or choice; nil of other results.
    package var text: String? { json.string("text") }
    package var finishReason: FinishReason? {
        json.string("finish_reason").flatMap { FinishReason(rawValue: $0) }
    }
    /// The model's reasoning before the text; nil if that is not separate.
    package var reasoning: String? { json.string("reasoning") }
    /// Nil if none is separated.
    var reasoningTokens: Int? { own["usage"]?.int("reasoning_tokens") }
    /// An entry for each token; nil if the job didn't ask for them.
    var logprobs: [JSONValue]? { own["logprobs"]?["content"]?.elements }
    package var promptTokens: Int { own["usage"]?.int("prompt_tokens") ?? 0 }
    package var completionTokens: Int { own["usage"]?.int("completion_tokens") ?? 0 }

    /// The text as a JSON object; nil if it is none.
    var object: JSONObject? { text.flatMap(Self.object) }

    package static func object(of text: String) -> JSONObject? {
        guard text.utf8.first == UInt8(ascii: "{"),
            case .object(let members)? = try? JSONValue(parsing: Array(text.utf8), limits: .line)
        else { return nil }
        return members
    }

    /// Whether the members are those of a result.
    var isComplete: Bool {
        if let error { return failure != nil && error.int("line") != nil }
        guard let usage = own["usage"] else { return false }
        let counts = ["prompt_tokens", "completion_tokens"].map { usage.int($0) ?? -1 }
        return (counts + [usage.int("reasoning_tokens") ?? 0]).allSatisfy { 0...Int(Int32.max) ~= $0 }
    }

    // MARK: Rows of jobs with steps

    /// Results of a row's steps, each under its step's name; nil if it is no row.
    package var steps: [JSONMember]? {
        own["steps"]?.texts?.map { JSONMember(name: $0, value: own[$0] ?? .null) }
    }
    /// The step that rejected the row or had no item for it, or `until`; nil if the row went through all steps.
    package var dropped: String? { json.string("dropped") }
    /// Id of the row that it duplicates, if it was dropped for that.
    package var original: String? { json.string("duplicate_of") }
    /// Whether it has not failed, and no step dropped it.
    package var isAccepted: Bool { !isFailed && dropped == nil }

    /// Nil if it is no row.
    package var outcome: RowOutcome? {
        guard let steps else { return nil }
        guard let dropped else { return .accepted }
        if dropped == JobStep.until { return .dropped(by: dropped, .notNeeded) }
        // A step that rejected its own result is among them.
        let isMade = steps.contains { $0.name == dropped }
        return .dropped(by: dropped, original != nil ? .duplicate : isMade ? .notAccepted : .noItem)
    }

    // MARK: As JSON

    /// Writes all members, in the order of the log.
    package func write(to writer: inout JSONWriter) {
        writer.members(own)
        writer.members(kept)
        if let timing { writer.value("timing", .object(timing)) }
    }

    /// The object of all its members, by which results are compared.
    package var bytes: [UInt8] { JSONWriter.object { write(to: &$0) }.bytes }

    /// - Parameter reasoning: tokens of the reasoning before an answer.
    static func usage(_ prompt: Int, _ completion: Int, reasoning: Int? = nil) -> JSONValue {
        var counts: JSONObject = ["prompt_tokens": .int(prompt), "completion_tokens": .int(completion)]
        counts["reasoning_tokens"] = reasoning.map { .int($0) }
        return .object(counts)
    }

    /// - Parameter facts: the engine's about a result.
    /// - Returns: nil if there are none.
    static func provenance(_ facts: [String: String]) -> JSONValue? {
        if facts.isEmpty { return nil }
        return .object(JSONObject(facts.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) }))
    }
}
