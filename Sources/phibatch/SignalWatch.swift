import BatchPipeline
import Dispatch
import Foundation
import Synchronization

/// Turns SIGINT, SIGTERM and SIGHUP into a request to stop. The second one leaves at once; what was
/// finished is safe even then.
final class SignalWatch: @unchecked Sendable {
    let stopFlag = StopFlag()
    private let first = Atomic<Int32>(0)
    /// Set up once, in `init`.
    private var sources: [any DispatchSourceSignal] = []

    /// The signal that asked to stop.
    var received: Int32? {
        let number = first.load(ordering: .acquiring)
        return number == 0 ? nil : number
    }

    init(console: Console) {
        // A closed pipe then shows as an error of the write, not as a silent end.
        signal(SIGPIPE, SIG_IGN)
        let queue = DispatchQueue(label: "phibatch.signals")
        for (number, name) in [(SIGINT, "SIGINT"), (SIGTERM, "SIGTERM"), (SIGHUP, "SIGHUP")] {
            // nohup ignores SIGHUP for us; that is to stay so.
            let before = signal(number, SIG_IGN)
            if number == SIGHUP, Self.isIgnore(before) { continue }
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { [self] in
                let (isFirst, _) = first.compareExchange(
                    expected: 0, desired: number, ordering: .acquiringAndReleasing)
                guard isFirst else { exit(128 + number) }
                stopFlag.set()
                console.error("\(name): saving what is under way; the same command goes on from here")
            }
            source.resume()
            sources.append(source)
        }
    }

    private static func isIgnore(_ handler: (@convention(c) (Int32) -> Void)?) -> Bool {
        unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}
