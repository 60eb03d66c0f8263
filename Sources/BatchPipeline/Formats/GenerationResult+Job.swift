import BatchEngine
import Foundations
import PhiModel

/// Encodes results, one line of JSON each. What differs from run to run is in `timing`, at the end.
/// The store adds what says where a result belongs: `id`, `index` and `sample`.
struct ResultRecord {
    let job: JobSettings

    func encode(
        _ completion: TokenSequence, _ work: WorkLabel, provenance: [String: String],
        now: ContinuousClock.Instant = .now
    ) -> String {
        var writer = JSONWriter()
        writer.object { writer in
            writer.key("text")
            writer.string(completion.text)
            writer.key("finish_reason")
            completion.finishReason.map { writer.string($0.rawValue) } ?? writer.null()
            writer.key("usage")
            writer.object { writer in
                writer.key("prompt_tokens")
                writer.int(completion.request.prompt.count)
                writer.key("completion_tokens")
                writer.int(completion.tokens.count)
            }
            writer.key("seed")
            writer.int(work.seed)
            if job.tokens {
                writer.key("tokens")
                writer.array { writer in for token in completion.tokens { writer.int(token) } }
            }
            if job.logprobs != nil {
                writer.key("logprobs")
                writer.object { writer in
                    writer.key("content")
                    writer.array { writer in for entry in completion.notes { writer.raw(entry) } }
                }
            }
            if !provenance.isEmpty {
                writer.key("provenance")
                writer.object { writer in
                    for (name, value) in provenance.sorted(by: { $0.key < $1.key }) {
                        writer.key(name)
                        writer.string(value)
                    }
                }
            }
            timing(completion, work, now, &writer)
        }
        return writer.text
    }

    func encode(_ error: LineError, _ work: WorkLabel) -> String {
        var writer = JSONWriter()
        writer.object { writer in
            writer.key("error")
            writer.object { writer in
                writer.key("code")
                writer.string(error.code.rawValue)
                writer.key("message")
                writer.string(error.message)
                if job.input.count > 1 {
                    writer.key("file")
                    writer.string(work.file)
                }
                writer.key("line")
                writer.int(work.lineNumber)
            }
        }
        return writer.text
    }

    private func timing(
        _ completion: TokenSequence, _ work: WorkLabel, _ end: ContinuousClock.Instant,
        _ writer: inout JSONWriter
    ) {
        let ready = work.readyAt
        let admitted = completion.admittedAt ?? end
        let first = completion.firstTokenAt ?? end
        let made = completion.tokens.count - completion.savedCount
        let seconds = (end - admitted).seconds
        writer.key("timing")
        writer.object { writer in
            writer.key("queued")
            writer.number((admitted - ready).seconds.rounded(toPlaces: 3))
            writer.key("prefill")
            writer.number((first - admitted).seconds.rounded(toPlaces: 3))
            writer.key("decode")
            writer.number((end - first).seconds.rounded(toPlaces: 3))
            writer.key("tokens_per_second")
            writer.number(seconds > 0 ? (Double(made) / seconds).rounded(toPlaces: 2) : 0)
        }
    }
}

extension Double {
    func rounded(toPlaces places: Int) -> Double {
        var scale = 1.0
        for _ in 0..<places { scale *= 10 }
        return (self * scale).rounded() / scale
    }
}
