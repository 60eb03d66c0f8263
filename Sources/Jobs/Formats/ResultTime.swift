import BatchEngine
import JSON
import OperatingSystem

extension GenerationResult {
    /// Times of a result, each described by its row of `ResultTime.all`; nil if it was not measured.
    package struct Timing: Sendable, Equatable {
        package var queued: Double?
        package var prefill: Double?
        package var decode: Double?
        package var tokensPerSecond: Double?
        package var ended: Double?
    }
}

/// Time of a result: a member of `Timing` and a row here. Outputs, the log, steps, reports and the help go through the
/// rows.
package struct ResultTime: Sendable {
    package typealias Timing = GenerationResult.Timing

    package enum Unit: String, Sendable {
        case seconds
        case rate = "tokens a second"
        case moment = "seconds since 1970"
    }

    package let name: String
    package let unit: Unit
    /// Name for people, and what it measures.
    package let title, about: String
    fileprivate let get: @Sendable (Timing) -> Double?
    fileprivate let set: @Sendable (inout Timing, Double?) -> Void
    let value: @Sendable (RequestClock) -> Double

    private init(
        _ name: String, _ unit: Unit, _ title: String, _ about: String,
        _ get: @escaping @Sendable (Timing) -> Double?,
        _ set: @escaping @Sendable (inout Timing, Double?) -> Void,
        _ value: @escaping @Sendable (RequestClock) -> Double
    ) {
        (self.name, self.unit, self.title, self.about) = (name, unit, title, about)
        (self.get, self.set, self.value) = (get, set, value)
    }

    /// In the order of rows and reports.
    package static let all = [
        ResultTime(
            "queued", .seconds, "Waiting", "from when a request was ready to its admission", \.queued,
            { $0.queued = $1 }, \.queued),
        ResultTime(
            "prefill", .seconds, "Prefill", "from there to its first token", \.prefill, { $0.prefill = $1 },
            \.prefill),
        ResultTime(
            "decode", .seconds, "Decode", "from there to its end", \.decode, { $0.decode = $1 }, \.decode),
        ResultTime(
            "tokens_per_second", .rate, "Tokens a second", "from its admission to its end",
            \.tokensPerSecond, { $0.tokensPerSecond = $1 }, \.tokensPerSecond),
        ResultTime(
            "ended", .moment, "Ended", "when it ended", \.ended, { $0.ended = $1 },
            { _ in Double(FileInfo.now) / 1e9 }),
    ]
}

extension GenerationResult.Timing {
    package subscript(time: ResultTime) -> Double? {
        get { time.get(self) }
        set { time.set(&self, newValue) }
    }

    /// - Parameter value: returns a time, which is rounded.
    private init(_ value: (ResultTime) -> Double?) {
        for time in ResultTime.all {
            self[time] = value(time)?.rounded(toPlaces: time.unit == .rate ? 2 : 3)
        }
    }

    init(_ clock: RequestClock) { self.init { $0.value(clock) } }

    /// Nothing was computed.
    static let zero = Self { $0.unit == .moment ? nil : 0 }

    /// Seconds from admission to the end.
    package var running: Double { (prefill ?? 0) + (decode ?? 0) }
    /// Seconds from readiness to the end.
    package var seconds: Double { (queued ?? 0) + running }

    /// The times of two steps, one after the other.
    func followed(by next: Self) -> Self {
        let both = running + next.running
        return Self { time in
            let (own, others) = (self[time], next[time])
            guard time.unit != .moment, let own, let others else { return others }
            if time.unit == .seconds { return own + others }
            return both > 0 ? (own * running + others * next.running) / both : 0
        }
    }

    func write(to writer: inout JSONWriter) {
        writer.object("timing") { writer in
            for time in ResultTime.all {
                if let value = self[time] { writer.number(time.name, value) }
            }
        }
    }

    /// - Parameter json: what `write` has written, maybe with fewer times.
    init(_ json: JSONValue) {
        for time in ResultTime.all { self[time] = json.number(time.name) }
    }
}
