import Essentials
import OperatingSystem
import Synchronization

/// The terminal of a chat: what its keys do, and how it is left, also by a signal.
///
/// Without a terminal at stdin, SIGINT ends the program as it does others; with one, it is an event.
final class ChatTerminal: Sendable {
    let events: ChatEvents
    private let modes: TerminalModes?
    private let mode = Atomic<Int>(TerminalModes.Mode.original.rawValue)
    /// Where the line that is edited is shown; nil if there is no such place.
    let screen: Int32?

    /// Whether a person types at it.
    var isInteractive: Bool { modes != nil }

    /// To be made once.
    init() throws {
        events = try ChatEvents()
        modes = TerminalModes(0)
        let name = ProcessInfo.processInfo.environment["TERM"] ?? ""
        let canDraw = modes != nil && !["", "dumb"].contains(name)
        screen = canDraw ? [2, 1].first(where: Platform.isTerminal) : nil
        _ = leaving  // made here: a handler must not allocate
        chatTerminal = self
        Platform.ignoreFailedWrites()
        for (number, _) in Platform.stopSignals
        where !(number == Platform.hangUp && Platform.isIgnored(number)) {
            Platform.handle(number) { chatTerminal?.receive($0) }
        }
        guard modes != nil else { return }
        Platform.handle(Platform.resized) { _ in chatTerminal?.events.post(.resize) }
        Platform.handle(Platform.continued) { _ in chatTerminal?.goOn() }
    }

    func set(_ new: TerminalModes.Mode) {
        // Cooked lines are the terminal's own to edit.
        guard screen != nil || new != .editing else { return set(.original) }
        mode.store(new.rawValue, ordering: .relaxed)
        modes?.set(new)
    }

    /// Shows text where lines are edited. A terminal that is gone shows nothing; its input ends then too.
    func draw(_ text: String) {
        guard let screen else { return }
        try? Files.write(Array(text.utf8), to: screen)
    }

    // MARK: In handlers

    private func receive(_ number: Int32) {
        if number == Platform.interrupt, isReady.load(ordering: .relaxed) { return events.post(.interrupt) }
        modes?.set(.original)
        if mode.load(ordering: .relaxed) == TerminalModes.Mode.editing.rawValue {
            Platform.writeError(leaving)
        }
        Platform.leave(128 + number)
    }

    private func goOn() {
        // Whoever stopped us may have left the terminal otherwise.
        if let now = TerminalModes.Mode(rawValue: mode.load(ordering: .relaxed)), now != .original {
            modes?.set(now)
        }
        events.post(.resize)
    }

    /// Until the model is there, SIGINT ends the program.
    private let isReady = Atomic<Bool>(false)

    func begin() { isReady.store(isInteractive, ordering: .relaxed) }
}

/// What the handlers work for.
private nonisolated(unsafe) var chatTerminal: ChatTerminal?

/// Pastes are no longer marked, and the shell's prompt has a row of its own.
private nonisolated(unsafe) let leaving = Platform.lasting(EditedLines.end)
