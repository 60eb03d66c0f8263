import FoundationShim
import OperatingSystem
import Synchronization

enum ChatLine: Equatable {
    case text(String)
    case notText(number: Int)
    /// Ctrl-C at the prompt.
    case interrupted
    case end
}

/// Lines of stdin, with line editing on a terminal.
struct ChatInput {
    static let prompt = "> "
    /// Set by Ctrl-C once the chat has begun, and cleared before each line.
    static let isInterrupted = Atomic(false)

    let isTerminal = Terminal.isTerminal(0)
    /// Nil without line editing.
    private var editor: LineEditor?
    private var number = 0

    /// Must be created once.
    init() {
        Self.isInterrupted.store(false, ordering: .relaxed)
        guard isTerminal else { return }
        Signals.handle(Signals.interrupt) { _ in ChatInput.isInterrupted.store(true, ordering: .relaxed) }
        let terminal = ProcessInfo.processInfo.environment["TERM"] ?? ""
        guard Terminal.isTerminal(1), !["", "dumb"].contains(terminal) else { return }
        editor = LineEditor()
    }

    mutating func next() -> ChatLine {
        Self.isInterrupted.store(false, ordering: .relaxed)
        number += 1
        let line = editor.map { $0.line() } ?? plainLine()
        if Self.isInterrupted.load(ordering: .relaxed) { return .interrupted }
        guard let line else { return .end }
        return String(validating: line, as: UTF8.self).map { .text($0) } ?? .notText(number: number)
    }

    private func plainLine() -> [UInt8]? {
        if isTerminal { try? Files.write(Array(Self.prompt.utf8), to: 2) }
        var line: [UInt8] = []
        while let byte = Self.nextByte() {
            guard byte != 0x0A else { return line.last == 0x0D ? line.dropLast() : line }
            line.append(byte)
        }
        return line.isEmpty ? nil : line
    }

    /// - Returns: nil at the end of the input and after Ctrl-C.
    static func nextByte(_ checkSignals: (@convention(c) () -> Void)? = nil) -> UInt8? {
        while !isInterrupted.load(ordering: .relaxed) {
            if Terminal.hasInput(0, milliseconds: 100), let bytes = Terminal.readSome(0, limit: 1) {
                return bytes.first
            }
            checkSignals?()
        }
        return nil
    }
}
