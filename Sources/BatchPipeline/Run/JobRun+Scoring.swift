import BatchEngine

/// What comes of requests whose tokens are given.
extension JobRun {
    func takeScore(of sequence: TokenSequence, _ provenance: [String: String]) throws {
        let score = GenerationResult.Score(sequence, job: job, provenance: provenance)
        try take(.success(score), of: sequence.request, sequence)
    }

    /// One of a line's completions is scored, or can't be.
    func take(_ part: OpenScores.Part, of request: Request, _ sequence: TokenSequence?) throws {
        let label = request.work
        close(label)
        guard let place = label.scored else { preconditionFailure("a request that is not scored") }
        switch scores.add(part, of: label, place, sequence) {
        case .success(let scored)?:
            statistics.done += 1
            try store.use {
                try $0.append(.scored(scored), key: label.key, position: label.position)
            }
        case .failure(let error)?: try file(error, label)
        case nil: break
        }
    }
}
