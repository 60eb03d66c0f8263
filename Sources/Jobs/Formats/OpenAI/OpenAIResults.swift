import JSON
import OperatingSystem

/// Results of OpenAI's batch API: one line a request, with all choices.
///
///     {"id":"batch_req_…","custom_id":"…","response":{"status_code":200,"request_id":"…","body":{…}},"error":null}
///
/// A failed line has status 400, or 500 if it isn't the line's fault, and the error in `body`. As the same job gives
/// the same bytes, ids derive from the line's content, `created` is 0, and `system_fingerprint` is the run's.
package struct OpenAIResults: ResultFormat {
    package let name = "openai"
    package let isByLine = true
    /// Name of the model in results.
    let model: String

    package init(model: String = "") { self.model = model }

    package var layout: String { model }
    package func having(layout: String) -> any ResultFormat { Self(model: layout) }

    package func fitting(_ job: JobSettings) -> any ResultFormat {
        let name = Files.kind(of: job.model) == .folder ? Paths.name(of: job.model) : job.modelName
        return Self(model: name ?? Paths.name(of: job.model))
    }

    package func problem(with job: JobSettings) -> String? {
        if !job.steps.isEmpty { return "holds one answer of a line, and the job has steps" }
        return job.task.answers ? nil : "holds answers, and task: \(job.task.rawValue) makes none"
    }

    package func makeEncoder(for run: ResultRun) -> any ResultEncoder { Encoder(run: run, model: model) }

    private struct Encoder: ResultEncoder {
        let run: ResultRun
        let model: String
        /// Results of the current line so far.
        var held: [GenerationResult] = []

        var isHolding: Bool { !held.isEmpty }

        mutating func append(_ result: GenerationResult, at place: ResultPlace, to output: inout [UInt8]) {
            held.append(result)
            let request = OpenAIRequest(of: result)
            guard place.key.sample + 1 >= request.choices ?? run.samples else { return }
            var id: [UInt8] = []
            JSONBytes.appendHex(place.key.contentHash, to: &id)
            let answer = OpenAIAnswer(
                id: String(decoding: id, as: UTF8.self), model: request.model ?? model,
                run: place.run ?? run.digest,
                endpoint: request.endpoint, request: request)
            let writer = JSONWriter.object { writer in
                writer.string("id", "batch_req_\(answer.id)")
                writer.string("custom_id", place.key.id)
                writer.object("response") { answer.write(held, to: &$0) }
                writer.null("error")
                for value in result.kept where value.name != OpenAIRequest.keptName {
                    writer.raw(value.name, value.json)
                }
            }
            output += writer.bytes
            output.append(0x0a)
            held = []
        }
    }
}
