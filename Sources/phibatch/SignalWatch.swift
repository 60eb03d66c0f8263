import BatchPipeline
import Dispatch
import Foundation
import Synchronization

/// Turns SIGINT, SIGTERM and SIGHUP into a request to stop. The second one leaves at once; what was
/// finished is safe even then.
final class SignalWatch: @unchecked Sendable {
    let stopFlag = StopFlag()
    private let first = Atomic<Int32>(0)
    /// Once the run has ended by itself: the exit code that fits.
    private let endStatus = Atomic<Int32>(-1)
    /// Seconds until the program leaves even if it is in the middle of something long: loading a large
    /// model, or putting a large output in place.
    private static let patience = 1.5
    /// Set up once, in `init`.
    private var sources: [any DispatchSourceSignal] = []

    /// The signal that asked to stop.
    var received: Int32? {
        let number = first.load(ordering: .acquiring)
        return number == 0 ? nil : number
    }

    /// - Parameter resumable: whether there is a journal to go on from; with a stream as output, there is none.
    init(console: Console, resumable: Bool) {
        // A closed pipe then shows as an error of the write, not as a silent end.
        signal(SIGPIPE, SIG_IGN)
        // So does a limit on the size of files (ulimit -f).
        signal(SIGXFSZ, SIG_IGN)
        let queue = DispatchQueue(label: "phibatch.signals")
        // Apart, because stderr may be a pipe that nobody empties.
        let messages = DispatchQueue(label: "phibatch.signals.messages")
        for (number, name) in [(SIGINT, "SIGINT"), (SIGTERM, "SIGTERM"), (SIGHUP, "SIGHUP")] {
            // nohup ignores SIGHUP for us; that is to stay so.
            if number == SIGHUP, Self.isIgnored(number) { continue }
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { [self] in
                let (isFirst, _) = first.compareExchange(
                    expected: 0, desired: number, ordering: .acquiringAndReleasing)
                guard isFirst else { _exit(128 + number) }
                let stops = stopFlag.set()
                messages.async {
                    console.error(
                        !stops
                            ? "\(name): all lines are done; the run is just ending by itself"
                            : resumable
                                ? "\(name): saving what is under way; the same command goes on from here"
                                : "\(name): stopping")
                }
                queue.asyncAfter(deadline: .now() + Self.patience) {
                    messages.async {
                        console.error(
                            "leaving in the middle of a long step"
                                + (resumable ? "; what is finished is safe" : ""))
                    }
                    queue.asyncAfter(deadline: .now() + 0.05) { [self] in
                        let ended = endStatus.load(ordering: .acquiring)
                        _exit(ended >= 0 ? ended : 128 + number)
                    }
                }
            }
            source.resume()
            #if canImport(Darwin)
                // There the source only watches; the signal must be kept from its own effect. (Elsewhere
                // the source takes it over. Until then it ends the program, and nothing is lost.)
                signal(number, SIG_IGN)
            #endif
            sources.append(source)
        }
    }

    /// What is left to be done is to leave; a signal does no more than hurry that.
    func runHasEnded(_ status: RunOutcome.Status) {
        switch status {
        case .complete: endStatus.store(0, ordering: .releasing)
        case .tooManyFailures: endStatus.store(3, ordering: .releasing)
        case .interrupted: break
        }
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        let handler = signal(number, SIG_DFL)
        guard unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) else {
            return false
        }
        signal(number, SIG_IGN)
        return true
    }
}
