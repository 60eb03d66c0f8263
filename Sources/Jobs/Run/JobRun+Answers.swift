import BatchEngine

/// Answers that are not what was asked for.
extension JobRun {
    /// Has the answer generated anew, or makes an error of it.
    /// - Parameters:
    ///   - label: of the sequence itself, if it was drawn.
    ///   - problem: a part of a sentence.
    func turnDown(_ sequence: TokenSequence, as label: WorkLabel, _ problem: String) throws {
        var request = sequence.request
        var label = label
        let tries = (job.retries ?? JobSettings.defaultRetries) + 1
        if request.sampling.draws, label.attempt + 1 < tries {
            statistics.turnedDown += 1
            label.attempt += 1
            label.readyAt = .now
            request.stream = label.stream
            request.saved = nil
            request.label = label
            return again.append(request)
        }
        let text: String
        if !request.sampling.draws {
            text =
                "The answer is not what is asked for: \(problem). "
                + "At temperature 0 another one would be the same."
        } else if label.attempt == 0 {
            text = "The answer is not what is asked for: \(problem)."
        } else {
            text = "None of \(label.attempt + 1) answers is what is asked for; of the last: \(problem)."
        }
        try fail(label, LineError(.invalidAnswer, text), text: sequence.text)
    }
}

extension WorkLabel {
    /// The key of the completion's random stream.
    var stream: UInt64 { RandomStream.key(seed: seed, id: key.id, sample: sample, attempt: attempt) }
}

extension SamplingParameters {
    /// Whether another random stream could make another completion.
    var draws: Bool { temperature > 0 && topK != 1 }
}
