import Errors
import OperatingSystem
import Synchronization

/// Reason to make a request again.
enum Retry: Error {
    /// - Parameters:
    ///   - after: seconds that the server asks for.
    ///   - reason: a sentence without its full stop.
    case later(after: Int?, Message)
    /// The part of this file that is here is of no use.
    case fromStart(String)
}

/// Limits on tries and pauses: a network that is gone for some seconds is no reason to give up.
struct Patience: Sendable {
    /// Bytes a second; less is as good as nothing.
    static let slowest = 1024

    /// Tries in a row that bring nothing.
    var tries = 6
    /// Seconds before the second try; doubled each time.
    var firstPause = 0.5
    var longestPause = 30.0
    /// Seconds to wait for a connection.
    var connecting = 10.0
    /// Seconds of less than `slowest`, after which a request is given up.
    var silence = 30.0

    /// Seconds that an answer without a file may take.
    var answering: Double { connecting + 4 * silence }

    static func isPassing(_ status: Int) -> Bool { status == 408 || status == 429 || status >= 500 }

    static func isFinal(_ error: any Error) -> Bool {
        error is HubError || error is CancellationError || error is Files.Failure
    }

    /// Seconds to wait after a number of tries without success.
    func pause(after failures: Int, asked: Int?) -> Double {
        var pause = firstPause
        for _ in 1..<max(1, failures) { pause = min(longestPause, pause * 2) }
        return max(pause, min(300, Double(asked ?? 0)))
    }

    /// Seconds to wait before another try.
    /// - Parameter place: what it is about, for the error.
    /// - Throws: if it is enough.
    func pause(after failures: Int, _ error: any Error, _ place: String) throws(HubError) -> Double {
        let failure = error as? WebFailure
        guard failures < tries, failure?.isLasting != true else {
            let advice: Message =
                failure.map { $0.isLasting ? "." : ". Is there a network? (--offline does without)" }
                ?? ", again and again."
            throw HubError(.network, place, Self.reason(error) + advice)
        }
        guard case .later(let seconds, _)? = error as? Retry else {
            return pause(after: failures, asked: nil)
        }
        return pause(after: failures, asked: seconds)
    }

    /// A sentence without its full stop.
    static func reason(_ error: any Error) -> Message {
        switch error {
        case Retry.later(_, let reason): reason
        case Retry.fromStart(let file): "the hub does not go on in the middle of \(file)"
        case let error as WebFailure: error.reason
        default: "the hub can't be reached: \(error)"
        }
    }
}

/// Asks the threads of a download to end.
final class Stop: Sendable {
    private let flag = Atomic(false)

    var isSet: Bool { flag.load(ordering: .acquiring) }

    func set() { flag.store(true, ordering: .releasing) }

    /// - Throws: `CancellationError` if it is set.
    func check() throws(CancellationError) {
        if isSet { throw CancellationError() }
    }

    /// Waits on this thread.
    /// - Throws: `CancellationError`, soon after it is set.
    func sleep(_ seconds: Double) throws(CancellationError) {
        let end = ContinuousClock.now + .seconds(seconds)
        while true {
            try check()
            let left = (end - .now).seconds
            guard left > 0 else { return }
            ThisThread.sleep(min(0.05, left))
        }
    }
}
