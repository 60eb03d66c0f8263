import BatchPipeline
import OperatingSystem

/// What comes of the input of a chat.
enum ChatInput: Equatable {
    case line(String)
    /// A line that is no text.
    case notText(number: Int)
    /// Ctrl-C at the prompt.
    /// - Parameter typed: whether there were keys since the prompt; nil if that can't be known.
    case interrupted(typed: Bool?)
    case end
}

/// Where the lines of a chat come from.
protocol ChatLines {
    mutating func next() -> ChatInput
}

/// Lines of a pipe, of a file, or of a terminal that can't show edits.
struct PlainLines: ChatLines {
    let terminal: ChatTerminal
    private var bytes: [UInt8] = []
    private var number = 0
    private var hasEnded = false

    init(_ terminal: ChatTerminal) { self.terminal = terminal }

    mutating func next() -> ChatInput {
        terminal.set(.original)
        if terminal.isInteractive { Platform.writeError(Self.prompt) }
        var searched = 0
        while true {
            if let end = bytes[searched...].firstIndex(of: 0x0A) {
                defer { bytes.removeFirst(end + 1) }
                return line(bytes[..<end])
            }
            searched = bytes.count
            if hasEnded {
                defer { bytes = [] }
                return bytes.isEmpty ? .end : line(bytes[...])
            }
            let (events, hasInput) = terminal.events.wait(input: 0)
            // What is typed before a line feed is the terminal's to know.
            if events.contains(.interrupt) { return .interrupted(typed: nil) }
            guard hasInput, let more = Platform.readSome(0) else { continue }
            bytes += more
            hasEnded = more.isEmpty
        }
    }

    private mutating func line(_ bytes: ArraySlice<UInt8>) -> ChatInput {
        number += 1
        let bytes = bytes.last == 0x0D ? bytes.dropLast() : bytes
        return String(validating: bytes, as: UTF8.self).map { .line($0) } ?? .notText(number: number)
    }

    private nonisolated(unsafe) static let prompt: UnsafeRawBufferPointer = {
        let text = EditedLines.prompt
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: text.utf8.count, alignment: 1)
        copy.copyBytes(from: text.utf8)
        return UnsafeRawBufferPointer(copy)
    }()
}

/// Lines that a person edits at a terminal.
struct EditedLines: ChatLines {
    let terminal: ChatTerminal
    private var editor: LineEditor
    private var reader = KeyReader()
    private var view = LineView()
    /// Typed, and not looked at yet.
    private var keys: ArraySlice<Key> = []

    static let prompt = "> "
    /// Pastes come between marks.
    private static let begin = "\u{1B}[?2004h"
    static let end = "\u{1B}[?2004l\r\n"

    init(_ terminal: ChatTerminal) {
        self.terminal = terminal
        editor = LineEditor(words: ChatRequest.words)
    }

    mutating func next() -> ChatInput {
        terminal.set(.editing)
        terminal.draw(Self.begin)
        defer { terminal.set(.answering) }
        var isTyped = false
        while true {
            guard let key = keys.popFirst() else {
                draw()
                if wait(&isTyped) { continue }
                leave()
                return .end
            }
            let outcome = editor.press(key)
            isTyped = isTyped || outcome != .cancelled
            switch outcome {
            case .edited: break
            case .accepted(let line):
                leave(showing: line)
                return .line(line)
            case .cancelled:
                leave(mark: "^C")
                return .interrupted(typed: isTyped)
            case .ended:
                leave()
                return .end
            case .screenCleared: terminal.draw(view.clearScreen())
            case .suspended: suspend()
            }
        }
    }

    /// - Returns: false at the end of the input.
    private mutating func wait(_ isTyped: inout Bool) -> Bool {
        let (events, hasInput) = terminal.events.wait(input: 0)
        if events.contains(.interrupt) {
            isTyped = isTyped || !keys.isEmpty
            keys = [.interrupt]
        }
        if events.contains(.resize) { view.resize(columns: terminal.size.columns) }
        guard hasInput, let bytes = Platform.readSome(0) else { return true }
        keys += reader.keys(bytes)
        return !bytes.isEmpty
    }

    private mutating func draw() {
        let size = terminal.size
        let layout = LineLayout(prompt: Self.prompt, editor, columns: size.columns)
        terminal.draw(view.draw(layout, height: size.rows))
    }

    /// Leaves the line on the screen, with the cursor below.
    private mutating func leave(showing line: String? = nil, mark: String = "") {
        let size = terminal.size
        let layout = LineLayout(
            prompt: Self.prompt, before: Array(line ?? editor.text), after: [], columns: size.columns)
        // A dropped line stays as it was drawn.
        if mark.isEmpty { terminal.draw(view.draw(layout, height: size.rows)) }
        terminal.draw(mark + Self.end)
        view.leave()
    }

    private mutating func suspend() {
        terminal.draw(Self.end)
        view.leave()
        terminal.set(.original)
        Platform.stopGroup()
        terminal.set(.editing)
        terminal.draw(Self.begin)
    }
}
