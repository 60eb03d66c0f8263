import BatchEngine
import Errors

extension GenerationResult {
    init(_ error: LineError, _ work: RequestLabel, job: JobSettings, text: String? = nil) {
        self = .failure(
            .init(error, file: job.input.count > 1 ? work.file : nil, line: work.lineNumber, text: text),
            kept: work.kept)
    }
}

extension GenerationResult.Timing {
    /// A completion computed for an equal request has no times but the wait.
    /// - Parameter tokens: the tokens that this run made; nil for those sampled.
    init(_ ended: EndedRequest, _ label: RequestLabel, tokens: Int? = nil) {
        var clock = ended.clock ?? RequestClock()
        clock.ready = label.readyAt
        if let tokens { clock.tokens = tokens }
        self.init(clock)
    }
}

extension Double {
    package func rounded(toPlaces places: Int) -> Double {
        var scale = 1.0
        for _ in 0..<places { scale *= 10 }
        return (self * scale).rounded() / scale
    }
}
