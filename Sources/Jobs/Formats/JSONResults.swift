import JSON

extension ResultFormat {
    /// JSON objects in UTF-8, one a line, with the members that the job's `results` selects.
    package static let jsonl = ResultFormat(word: "jsonl", ownDetail: .full, makeWriter: rows)

    /// The same as the elements of an array, each on a line.
    ///
    ///     [
    ///     {"id":"…",…},
    ///     {"id":"…",…}
    ///     ]
    ///
    /// Without results the array is `[]`. The comma stands before a result, as the last one is not known in advance.
    package static let json = ResultFormat(
        word: "json", nameEnds: ["json"], start: "[", ends: ("\n]\n", "]\n"), ownDetail: .full,
        makeWriter: rows)

    @Sendable private static func rows(_ format: Self) -> Writer {
        let (isArray, detail) = (!format.start.isEmpty, format.detail)
        return { encoder, output in
            var (writer, isThere) = (JSONWriter(), false)
            writer.object { writer in
                if detail != .messages {
                    writer.string("id", encoder.record.key.id)
                    if encoder.samples > 1 { writer.int("sample", encoder.record.key.sample) }
                }
                isThere = detail.write(encoder.record.result, to: &writer)
            }
            guard isThere else { return }
            if isArray { output += (encoder.isEmpty ? "\n" : ",\n").utf8 }
            output += writer.bytes
            if !isArray { output.append(0x0A) }
        }
    }
}

/// Members of each result in an output, set by `results`.
///
///     {"id":"…"[,"sample":N]<kept>,<members of the result>[,"timing":{…}]}
///
/// `sample` is present if a line has several results.
public enum ResultDetail: String, CaseIterable, Sendable {
    /// All members.
    case full
    /// All except times: two runs give the same file.
    case data
    /// Only the data in a plain form, without dropped rows; the rest is in the log.
    case lean
    /// The conversation with its answer, to train a model.
    case messages

    var help: String {
        switch self {
        case .full: "all"
        case .data: "all but timing, so that two runs give the same file"
        case .lean: "the data alone (id, texts, classes, scores, steps, fields that keep names)"
        case .messages: "conversations to train a model with, failed and dropped ones left out"
        }
    }

    /// Returns the reason why it can't show a job's results; nil if it can.
    func problem(with job: JobSettings) -> String? {
        self == .messages ? job.conversationProblem : nil
    }

    /// Writes a result's members; returns false if the output has no row for it.
    func write(_ result: GenerationResult, to writer: inout JSONWriter) -> Bool {
        if self == .messages { return result.writeConversation(to: &writer) }
        if self == .lean, result.dropped != nil { return false }
        writer.members(result.kept)
        write(result.own, to: &writer)
        if self == .full, let timing = result.timing { writer.value("timing", .object(timing)) }
        return true
    }

    /// Members that are no data.
    private static let facts: Set = [
        "steps", "reasoning_cut", "finish_reason", "usage", "seed", "tokens", "logprobs", "token_logprobs",
        "provenance", "asked",
    ]

    /// A seed is in the log alone. In data, a step that generates is its answer.
    private func write(_ own: JSONObject, to writer: inout JSONWriter) {
        let steps = own["steps"]?.texts ?? []
        for member in own {
            if steps.contains(member.name) {
                let step = GenerationResult(step: member.value)
                if self == .lean, let text = step.text, step.own["probabilities"] == nil {
                    writer.value(member.name, step.object.map { .object($0) } ?? .string(text))
                } else {
                    writer.object(member.name) { write(step.own, to: &$0) }
                }
            } else if self == .lean, member.name == "scores", let scores = member.value.elements {
                writer.objects("scores", scores) { write(GenerationResult(step: $1).own, to: &$0) }
            } else if !(self == .lean ? Self.facts : ["seed", "asked"]).contains(member.name) {
                writer.value(member.name, member.value)
            }
        }
    }
}
