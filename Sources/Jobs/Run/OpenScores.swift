import BatchEngine

/// Lines that are being scored. A line with several completions has a request for each; its result is made when all
/// are there.
struct OpenScores {
    typealias Part = Result<GenerationResult.Score, LineError>

    private struct Line {
        var parts: [Part?]
        var missing: Int
        var admittedAt: ContinuousClock.Instant?
    }

    /// By their place in the output.
    private var lines: [Int: Line] = [:]
    /// Lines of which no completion was computed, as equal ones were.
    private(set) var copied = 0

    /// Nobody waits for the line any more.
    mutating func drop(_ label: WorkLabel) { lines[label.position] = nil }

    /// - Parameters:
    ///   - part: what came of a request.
    ///   - sequence: nil if none was admitted for it.
    /// - Returns: the line's result if it is whole now. If some of its completions can't be scored, the first of them
    ///   says why.
    mutating func add(
        _ part: Part, of label: WorkLabel, _ place: ScoredPart, _ sequence: TokenSequence?,
        now: ContinuousClock.Instant = .now
    ) -> Result<GenerationResult.Scored, LineError>? {
        var line =
            lines.removeValue(forKey: label.position)
            ?? Line(parts: Array(repeating: nil, count: place.count), missing: place.count)
        line.parts[place.number] = part
        line.missing -= 1
        if let admitted = sequence?.admittedAt {
            line.admittedAt = line.admittedAt.map { min($0, admitted) } ?? admitted
        }
        guard line.missing == 0 else {
            lines[label.position] = line
            return nil
        }
        do throws(LineError) {
            var scores: [GenerationResult.Score] = []
            for part in line.parts.compactMap({ $0 }) { scores.append(try part.get()) }
            if line.admittedAt == nil { copied += 1 }
            let admitted = line.admittedAt ?? now
            let seconds = (now - admitted).seconds
            var scored = GenerationResult.Scored(
                scores, isList: place.isList, promptTokens: place.promptTokens, kept: label.kept)
            scored.timing = GenerationResult.Timing(
                queued: max(0, (admitted - label.readyAt).seconds).rounded(toPlaces: 3),
                prefill: seconds.rounded(toPlaces: 3), decode: 0,
                tokensPerSecond: seconds > 0
                    ? (Double(scored.completionTokens) / seconds).rounded(toPlaces: 2) : 0,
                ended: GenerationResult.Timing.now)
            return .success(scored)
        } catch {
            return .failure(error)
        }
    }
}

extension GenerationResult.Score {
    /// Makes the score of a request's scored tokens.
    init(_ sequence: TokenSequence, job: JobSettings, provenance: [String: String]) {
        self.init(
            sequence.logprobs, tokens: job.tokens ? sequence.request.scored : nil,
            provenance: GenerationResult.values(provenance))
    }
}
