import FoundationShim
import OperatingSystem

/// GNU readline, or libedit, which has the same calls. Both keep global state, so there is one instance.
struct LineEditor {
    private let readline: @convention(c) (UnsafePointer<CChar>) -> UnsafeMutablePointer<CChar>?
    private let addHistory: @convention(c) (UnsafePointer<CChar>) -> Void

    static let library = Result { () throws(SystemError) in
        try LoadedLibrary.first(
            of: ProgramCall.path(inVariable: "PHIBATCH_READLINE").map { [$0] }
                ?? (LoadedLibrary.suffix == "dylib"
                    ? ["/opt/homebrew/opt/readline/lib/libreadline.8.dylib", "libedit.3.dylib"]
                    : ["libreadline.so.8", "libedit.so.2"]))
    }

    static var version: String {
        do {
            let version = try library.get().symbol("rl_library_version")?.load(as: UnsafePointer<CChar>?.self)
            return version.map { String(cString: $0) } ?? "none: "
        } catch { return "none: \(error.what)" }
    }

    /// - Returns: nil if neither library is installed.
    init?() {
        guard let library = try? Self.library.get(), let readline = library.symbol("readline"),
            let addHistory = library.symbol("add_history"),
            let initialize = library.symbol("rl_initialize"),
            let getKey = library.symbol("rl_getc_function")
        else { return nil }
        self.readline = unsafeBitCast(readline, to: type(of: self.readline))
        self.addHistory = unsafeBitCast(addHistory, to: type(of: self.addHistory))
        // Both use the locale to find whole characters.
        setenv("LC_ALL", "C.UTF-8", 1)
        setlocale(LC_CTYPE, "C.UTF-8")
        library.symbol("rl_change_environment")?.storeBytes(of: 0, as: Int32.self)
        checkSignals = library.symbol("rl_check_signals").map { unsafeBitCast($0, to: CheckSignals.self) }
        // libedit reads it when it begins.
        getKey.storeBytes(of: nextKey, as: type(of: nextKey))
        _ = unsafeBitCast(initialize, to: (@convention(c) () -> Int32).self)()
    }

    /// Returns the next line; nil at the end of the input, and usually after Ctrl-C.
    func line() -> [UInt8]? {
        guard let line = readline(ChatInput.prompt) else { return nil }
        defer { free(line) }
        if line.pointee != 0 { addHistory(line) }
        return Array(String(cString: line).utf8)
    }
}

private typealias CheckSignals = @convention(c) () -> Void

/// Handles signals that readline has recorded; nil with libedit, which handles them at once.
private nonisolated(unsafe) var checkSignals: CheckSignals?

/// Returns the next byte for readline, the next character for libedit; -1 at the end of the input and after Ctrl-C.
private let nextKey: @convention(c) (OpaquePointer?) -> Int32 = { _ in
    guard let first = ChatInput.nextByte(checkSignals) else { return -1 }
    guard checkSignals == nil, first >= 0xC0 else { return Int32(first) }
    let rest = (1..<(~first).leadingZeroBitCount).compactMap { _ in ChatInput.nextByte() }
    return String(decoding: [first] + rest, as: UTF8.self).unicodeScalars.first.map { Int32($0.value) } ?? -1
}
