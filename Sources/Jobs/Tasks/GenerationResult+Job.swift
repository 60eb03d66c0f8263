import BatchEngine
import Errors
import OperatingSystem

extension GenerationResult {
    init(_ error: LineError, _ work: RequestLabel, job: JobSettings, text: String? = nil) {
        self = .failure(
            .init(error, file: job.input.count > 1 ? work.file : nil, line: work.lineNumber, text: text),
            kept: work.kept)
    }

    /// Returns an engine's provenance in a fixed order.
    static func values(_ provenance: [String: String]) -> [NamedValue] {
        provenance.sorted { $0.key < $1.key }.map { NamedValue(name: $0.key, value: $0.value) }
    }
}

extension GenerationResult.Timing {
    /// A completion computed for an equal request has no times but the wait.
    /// - Parameter made: the tokens that this run made.
    init(_ completion: TokenSequence, _ work: RequestLabel, made: Int, end: Moment) {
        guard completion.isOwn(work) else {
            self.init(
                queued: max(0, end - work.readyAt).rounded(toPlaces: 3), prefill: 0, decode: 0,
                tokensPerSecond: 0, ended: Self.now)
            return
        }
        let admitted = completion.admittedAt ?? end
        let first = completion.firstTokenAt ?? end
        let seconds = end - admitted
        self.init(
            queued: (admitted - work.readyAt).rounded(toPlaces: 3),
            prefill: (first - admitted).rounded(toPlaces: 3),
            decode: (end - first).rounded(toPlaces: 3),
            tokensPerSecond: seconds > 0 ? (Double(made) / seconds).rounded(toPlaces: 2) : 0,
            ended: Self.now)
    }

    /// Seconds since 1970.
    static var now: Double { (Double(FileState.now) / 1e9).rounded(toPlaces: 3) }
}

extension Double {
    package func rounded(toPlaces places: Int) -> Double {
        var scale = 1.0
        for _ in 0..<places { scale *= 10 }
        return (self * scale).rounded() / scale
    }
}
