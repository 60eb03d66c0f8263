import BatchPipeline
import Errors
import OperatingSystem
import Synchronization

/// Turns SIGINT, SIGTERM and SIGHUP into a request to stop. A second signal ends the program at once; finished results
/// are safe even then.
///
/// Everything happens in the signal handler, and the time limit is the system's, so no thread is needed, which might be
/// refused or late. A handler may neither allocate nor lock, so all texts are made before.
final class SignalWatch: Sendable {
    let stopFlag = StopFlag()
    private let first = Atomic<Int32>(0)
    /// Exit code of a run that has ended by itself.
    private let endStatus = Atomic<Int32>(-1)
    private let notices: [SignalNotice]
    /// Notices for a run that is putting its results in place and won't stop.
    private let endNotices: [SignalNotice]
    private let lastNotice: SignalNotice

    /// Milliseconds until the program ends even in a long operation, such as loading a large model or putting a large
    /// output in place.
    private let patience: Int

    /// The signal that asked to stop.
    var received: Int32? {
        let number = first.load(ordering: .acquiring)
        return number == 0 ? nil : number
    }

    /// Must be created once.
    /// - Parameters:
    ///   - resumable: whether there is a log; there is none with a stream as output.
    ///   - job: its name, for a log.
    ///   - form: of the log; nil as with `Console`.
    ///   - patience: in milliseconds.
    init(resumable: Bool, job: Message, form: LogForm?, patience: Int = 1500) {
        self.patience = patience
        let time = String(repeating: "0", count: UTCTime.length)
        func line(_ text: String) -> String {
            // The cursor may be at the end of a progress line.
            if form == nil, Terminal.isTerminal(2) { return "\r\u{1B}[Kphibatch: \(text)\n" }
            return (form ?? .text).line(time: time, job: job.text, level: "warning", message: text)
        }
        func notices(_ text: String) -> [SignalNotice] {
            Signals.stopSignals.map { SignalNotice(number: $0, text: line("\($1): \(text)")) }
        }
        self.notices = notices(resumable ? "saving running completions, then stopping" : "stopping")
        endNotices = notices("all lines are done; the run is about to end")
        let end = resumable ? "; finished results are safe" : ""
        lastNotice = SignalNotice(number: 0, text: line("leaving in the middle of a long step\(end)"))
        current = self

        Signals.ignoreFailedWrites()
        Signals.handle(Signals.alarm) { _ in current?.leave() }
        for (number, _) in Signals.stopSignals {
            // nohup ignores SIGHUP for us; that must stay so.
            if number == Signals.hangUp, Signals.isIgnored(number) { continue }
            Signals.handle(number) { current?.receive($0) }
        }
    }

    private func receive(_ number: Int32) {
        let (isFirst, _) = first.compareExchange(
            expected: 0, desired: number, ordering: .acquiringAndReleasing)
        guard isFirst else { Signals.leave(128 + number) }
        Signals.setAlarm(milliseconds: patience)
        let stops = stopFlag.set()
        for notice in stops ? notices : endNotices where notice.number == number {
            notice.write()
        }
    }

    private func leave() {
        lastNotice.write()
        let ended = endStatus.load(ordering: .acquiring)
        Signals.leave(ended >= 0 ? ended : 128 + first.load(ordering: .relaxed))
    }

    /// Records that the run has ended; a signal now only hurries the exit.
    func runHasEnded(_ status: RunOutcome.Status) {
        switch status {
        case .complete: endStatus.store(0, ordering: .releasing)
        case .tooManyFailures, .tooFewAccepted: endStatus.store(3, ordering: .releasing)
        case .interrupted: break
        }
    }
}

/// The watch of the handlers.
private nonisolated(unsafe) var current: SignalWatch?

/// A line on stderr, as bytes at a fixed address.
private struct SignalNotice: Sendable {
    let number: Int32
    // Made before the handlers, the first of which writes the time.
    private nonisolated(unsafe) let bytes: UnsafeMutableRawBufferPointer
    /// Range of the time, if the line has one.
    private let time: Range<Int>?

    /// - Parameter text: the line; for a log, with zeros in place of the time.
    init(number: Int32, text: String) {
        self.number = number
        let room = String(repeating: "0", count: UTCTime.length)
        time = text.firstRange(of: room).map {
            let start = text.utf8.distance(from: text.startIndex, to: $0.lowerBound)
            return start..<start + UTCTime.length
        }
        bytes = Signals.lasting(text)
    }

    /// May be called in a signal handler.
    func write() {
        if let time {
            UTCTime(seconds: Signals.secondsSince1970).write(
                to: UnsafeMutableRawBufferPointer(rebasing: bytes[time]))
        }
        Signals.writeError(bytes)
    }
}
