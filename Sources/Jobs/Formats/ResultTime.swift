import BatchEngine
import JSON
import OperatingSystem

extension GenerationResult {
    /// Times of a result, each described by its row of `ResultTime.all`; nil if it was not measured.
    package struct Timing: Sendable, Equatable {
        package var queued, prefill, decode, tokensPerSecond, ended: Double?
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
    fileprivate let member: WritableKeyPath<Timing, Double?> & Sendable
    fileprivate let value: @Sendable (RequestClock) -> Double

    /// In the order of rows and reports.
    package static let all = [
        Self(
            name: "queued", unit: .seconds, title: "Waiting",
            about: "from when a request was ready to its admission", member: \.queued, value: \.queued),
        Self(
            name: "prefill", unit: .seconds, title: "Prefill", about: "from there to its first token",
            member: \.prefill, value: \.prefill),
        Self(
            name: "decode", unit: .seconds, title: "Decode", about: "from there to its end",
            member: \.decode, value: \.decode),
        Self(
            name: "tokens_per_second", unit: .rate, title: "Tokens a second",
            about: "from its admission to its end", member: \.tokensPerSecond, value: \.tokensPerSecond),
        Self(
            name: "ended", unit: .moment, title: "Ended", about: "when it ended", member: \.ended,
            value: { _ in Double(FileInfo.now) / 1e9 }),
    ]
}

extension GenerationResult.Timing {
    package subscript(time: ResultTime) -> Double? {
        get { self[keyPath: time.member] }
        set { self[keyPath: time.member] = newValue }
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

extension Double {
    package func rounded(toPlaces places: Int) -> Double {
        var scale = 1.0
        for _ in 0..<places { scale *= 10 }
        return (self * scale).rounded() / scale
    }
}
