import Essentials
import Faults
import JSON
import OperatingSystem

/// Lines that a person edits at a terminal with what shells have for it: GNU readline, or libedit, which has its calls.
/// There can be one of them, as both keep all in variables.
struct EditedLines: ChatLines {
    private let terminal: ChatTerminal
    private let read: @convention(c) (UnsafePointer<CChar>) -> UnsafeMutablePointer<CChar>?
    private let remember: @convention(c) (UnsafePointer<CChar>) -> Void
    /// What was remembered last.
    private var last = ""
    private var number = 0

    static let prompt = "> "
    /// Pastes come between marks.
    fileprivate static let begin = "\u{1B}[?2004h"
    static let end = "\u{1B}[?2004l\r\n"

    private static let library = LoadedLibrary.first(
        of: ProgramCall.path(inVariable: "PHIBATCH_READLINE").map { [$0] }
            ?? (LoadedLibrary.suffix == "dylib"
                ? [
                    "/opt/homebrew/opt/readline/lib/libreadline.8.dylib",
                    "/usr/local/opt/readline/lib/libreadline.8.dylib", "libedit.3.dylib",
                ] : ["libreadline.so.8", "libreadline.so.7", "libedit.so.2"]))

    /// What is said where neither is there.
    static let absence: Message =
        "lines are edited as the terminal does it: neither readline nor libedit can be loaded (\(library.reason))"

    static var libraryVersion: String {
        let version = library.library?.symbol("rl_library_version")?.load(as: UnsafePointer<CChar>?.self)
        return version.map { String(cString: $0) } ?? "none: \(library.reason)"
    }

    /// - Returns: nil if neither library is there.
    init?(_ terminal: ChatTerminal) {
        guard let screen = terminal.screen, let library = Self.library.library,
            let read = library.symbol("readline"), let remember = library.symbol("add_history"),
            let begin = library.symbol("rl_initialize"), let bind = library.symbol("rl_parse_and_bind")
        else { return nil }
        func set<Value>(_ name: String, _ value: Value) {
            library.symbol(name)?.storeBytes(of: value, as: Value.self)
        }
        self.terminal = terminal
        self.read = unsafeBitCast(read, to: type(of: self.read))
        self.remember = unsafeBitCast(remember, to: type(of: self.remember))
        let echo = library.symbol("rl_tty_set_echoing")
        typing = Typing(
            terminal: terminal, isReadline: echo != nil,
            resize: library.symbol("rl_resize_terminal").map {
                unsafeBitCast($0, to: (@convention(c) () -> Void).self)
            })
        // Both ask the locale which bytes are a character.
        setenv("LC_ALL", "C.UTF-8", 1)
        setlocale(LC_CTYPE, "C.UTF-8")
        set("rl_outstream", fdopen(screen, "w"))
        for name in ["rl_catch_signals", "rl_catch_sigwinch", "rl_change_environment"] { set(name, Int32(0)) }
        // libedit looks for it as it begins.
        set("rl_getc_function", nextKey)
        _ = unsafeBitCast(begin, to: (@convention(c) () -> Int32).self)()
        set("rl_completion_entry_function", nextCommand)
        // Alt-Enter is a line feed in the text; and what was pasted looks as what was typed.
        let settings =
            echo == nil
            ? [#"bind -s "\e\r" "^V^J""#] : [#""\e\C-m": "\C-v\C-j""#, "set enable-active-region off"]
        for setting in settings {
            var text = Array(setting.utf8CString)
            _ = unsafeBitCast(bind, to: (@convention(c) (UnsafeMutablePointer<CChar>) -> Int32).self)(&text)
        }
        guard let echo else { return }
        // The terminal is ours to set; that it shows nothing by itself doesn't mean that readline shall show nothing.
        for name in ["rl_prep_term_function", "rl_deprep_term_function"] { set(name, UnsafeRawPointer?.none) }
        _ = unsafeBitCast(echo, to: (@convention(c) (Int32) -> Int32).self)(1)
    }

    mutating func next() -> ChatInput {
        terminal.set(.editing)
        defer { terminal.set(.answering) }
        typing?.begin()
        let line = read(Self.prompt)
        defer { free(line) }
        // The library leaves the row itself if the line has text.
        terminal.draw(line == nil ? Self.end : String(Self.end.dropLast()))
        number += 1
        if let typing, typing.isInterrupted { return .interrupted(typed: typing.isTyped) }
        guard let line else { return .end }
        guard let text = String(validatingCString: line) else { return .notText(number: number) }
        if !text.allSatisfy(\.isWhitespace), text != last { remember(line) }
        last = text
        return .line(text)
    }
}

/// What the libraries' calls work for.
private nonisolated(unsafe) var typing: Typing?

/// What is typed for one line.
private struct Typing {
    let terminal: ChatTerminal
    /// libedit takes characters for bytes, and knows no marks of pastes.
    let isReadline: Bool
    let resize: (@convention(c) () -> Void)?
    /// Whether there were keys since the prompt.
    var isTyped = false
    var isInterrupted = false

    mutating func begin() {
        (isTyped, isInterrupted) = (false, false)
        if isReadline { terminal.draw(EditedLines.begin) }
    }

    /// - Returns: what is typed next; nil at the end, which Ctrl-C makes too.
    mutating func key() -> Int32? {
        var bytes: [UInt8] = []
        while !isInterrupted {
            let (events, hasInput) = terminal.events.wait(input: 0)
            if events.contains(.resize) { resize?() }
            if events.contains(.interrupt) { interrupt() }
            guard !isInterrupted, hasInput, let byte = Platform.readSome(0, limit: 1) else { continue }
            switch byte.first {
            case nil: return nil
            case 0x03?: interrupt()
            case 0x1A?:
                terminal.draw(EditedLines.end)
                terminal.set(.original)
                Platform.stopGroup()
                terminal.set(.editing)
                if isReadline { terminal.draw(EditedLines.begin) }
            case let key?:
                isTyped = true
                if isReadline { return Int32(key) }
                bytes.append(key)
                switch bytes.withUnsafeBufferPointer({ UTF8Bytes.step($0, at: 0) }) {
                case .incomplete: continue
                case .invalid: bytes = []
                case .valid:
                    return String(decoding: bytes, as: UTF8.self).unicodeScalars.first.map { Int32($0.value) }
                }
            }
        }
        return nil
    }

    private mutating func interrupt() {
        isInterrupted = true
        terminal.draw("^C")
    }
}

private let nextKey: @convention(c) (OpaquePointer?) -> Int32 = { _ in typing?.key() ?? -1 }

/// Tab completes commands.
private let nextCommand: @convention(c) (UnsafePointer<CChar>, Int32) -> UnsafeMutablePointer<CChar>? = {
    start, place in
    let fitting = ChatRequest.words.filter { $0.hasPrefix(String(cString: start)) }
    return Int(place) < fitting.count ? strdup(fitting[Int(place)]) : nil
}
