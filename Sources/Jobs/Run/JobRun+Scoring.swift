import BatchEngine

/// What comes of requests whose tokens are given.
extension JobRun {
    func takeScore(
        of sequence: TokenSequence, as label: WorkLabel, _ provenance: [String: String]
    ) throws {
        let score = GenerationResult.Score(sequence, job: job, provenance: provenance)
        try take(.success(score), of: label, sequence.isOwn(label) ? sequence : nil)
    }

    /// One of a line's completions is scored, or can't be.
    /// - Parameter sequence: nil if it wasn't computed for this line.
    func take(_ part: OpenScores.Part, of label: WorkLabel, _ sequence: TokenSequence?) throws {
        close(label)
        guard let place = label.scored else { preconditionFailure("a line that is not scored") }
        switch scores.add(part, of: label, place, sequence) {
        case .success(let scored)?:
            statistics.done += 1
            statistics.copied = scores.copied
            try store.use {
                try $0.append(.scored(scored), key: label.key, position: label.position)
            }
        case .failure(let error)?: try file(error, label)
        case nil: break
        }
    }
}
