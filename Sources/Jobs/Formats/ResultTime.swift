import BatchEngine
import JSON
import OperatingSystem

/// Time of a result: a member of `timing`. Outputs, the log, steps, reports and the help go through the rows.
package struct ResultTime: Sendable {
    package enum Unit: String, Sendable {
        case seconds
        case rate = "tokens a second"
        case moment = "seconds since 1970"
    }

    package let name: String
    package let unit: Unit
    /// Name for people, and what it measures.
    package let title, about: String
    private let value: @Sendable (RequestClock) -> Double

    /// In the order of rows and reports.
    package static let all = [
        Self(
            name: "queued", unit: .seconds, title: "Waiting",
            about: "from when a request was ready to its admission", value: \.queued),
        Self(
            name: "prefill", unit: .seconds, title: "Prefill", about: "from there to its first token",
            value: \.prefill),
        Self(
            name: "decode", unit: .seconds, title: "Decode", about: "from there to its end", value: \.decode),
        Self(
            name: "tokens_per_second", unit: .rate, title: "Tokens a second",
            about: "from its admission to its end", value: \.tokensPerSecond),
        Self(
            name: "ended", unit: .moment, title: "Ended", about: "when it ended",
            value: { _ in Double(FileInfo.now) / 1e9 }),
    ]

    /// - Parameter value: returns a time, which is rounded.
    private static func times(_ value: (Self) -> Double?) -> JSONObject {
        JSONObject(
            distinct: all.compactMap { time in
                value(time).map {
                    let places = time.unit == .rate ? 2 : 3
                    return JSONMember(name: time.name, value: .plain($0.rounded(toPlaces: places)))
                }
            })
    }

    static func times(of clock: RequestClock) -> JSONObject { times { $0.value(clock) } }

    /// Times of a result for which nothing was computed.
    static let none = times { $0.unit == .moment ? nil : 0 }

    /// Returns the times of two steps, one after the other.
    static func times(_ first: JSONObject, then next: JSONObject) -> JSONObject {
        let (before, after) = (running(first), running(next))
        return times { time in
            let (own, others) = (first[time.name]?.number, next[time.name]?.number)
            guard time.unit != .moment, let own, let others else { return others }
            if time.unit == .seconds { return own + others }
            return before + after > 0 ? (own * before + others * after) / (before + after) : 0
        }
    }

    /// Returns the seconds from admission to the end.
    package static func running(_ times: JSONObject) -> Double {
        (times["prefill"]?.number ?? 0) + (times["decode"]?.number ?? 0)
    }

    /// Returns the seconds from readiness to the end.
    package static func seconds(_ times: JSONObject) -> Double {
        (times["queued"]?.number ?? 0) + running(times)
    }
}

extension Double {
    package func rounded(toPlaces places: Int) -> Double {
        var scale = 1.0
        for _ in 0..<places { scale *= 10 }
        return (self * scale).rounded() / scale
    }
}
