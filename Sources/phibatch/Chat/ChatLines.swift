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

    private nonisolated(unsafe) static let prompt = Platform.lasting(EditedLines.prompt)
}
