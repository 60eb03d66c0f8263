import JSON
import OperatingSystem

/// Results of OpenAI's batch API: one line a request, with all choices.
///
///     {"id":"batch_req_…","custom_id":"…","response":{"status_code":200,"request_id":"…","body":{…}},"error":null}
///
/// A failed line has status 400, or 500 if it isn't the line's fault, and the error in `body`. As the same job gives
/// the same bytes, ids derive from the line's content, `created` is 0, and `system_fingerprint` is the run's.
extension ResultFormat {
    /// - Parameter model: name of the model in results; by default the job's.
    package static func openAI(model: String = "") -> Self {
        Self(
            word: "openai", isByLine: true, layout: model,
            fit: { format, job in
                let name = Files.kind(of: job.model) == .folder ? nil : job.modelName
                format.layout = name ?? Paths.name(of: job.model)
            },
            fault: { _, job in
                if !job.steps.isEmpty { return "holds one answer of a line, and the job has steps" }
                return job.task.answers ? nil : "holds answers, and task: \(job.task.rawValue) makes none"
            },
            makeWriter: { format in { write($0, model: format.layout, to: &$1) } })
    }

    private static func write(_ encoder: ResultEncoder, model: String, to output: inout [UInt8]) {
        let (key, result) = (encoder.record.key, encoder.record.result)
        let request = OpenAIRequest(of: result)
        let answer = OpenAIAnswer(
            id: JSONBytes.hex(key.contentHash), model: request.model ?? model, created: 0,
            endpoint: request.endpoint)
        let (status, body) = answer.whole(
            encoder.held.map(\.result), run: encoder.record.run, of: request)
        let writer = JSONWriter.object { writer in
            writer.string("id", "batch_req_\(answer.id)")
            writer.string("custom_id", key.id)
            writer.object("response") { writer in
                writer.int("status_code", status)
                writer.string("request_id", "req_\(answer.id)")
                writer.raw("body", String(decoding: body, as: UTF8.self))
            }
            writer.null("error")
            writer.members(result.kept.filter { $0.name != OpenAIRequest.keptName })
        }
        output += writer.bytes
        output.append(0x0a)
    }
}
