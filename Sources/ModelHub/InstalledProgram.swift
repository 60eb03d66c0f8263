import Errors
import FoundationShim
import OperatingSystem

/// Program on PATH that reaches a store or a hub, and finds its keys itself: `aws`, `gcloud`, `rclone`, `hf`, Python's pip.
package struct InstalledProgram: Sendable {
    /// Variables that these programs read.
    private static let variables =
        ChildProgram.network + [
            "AWS_", "AZURE_", "BOTO_", "CLOUDSDK_", "GCE_", "GOOGLE_", "HF_", "PIP_", "RCLONE_",
            "XDG_CACHE_HOME", "XDG_CONFIG_HOME",
        ]

    package let name: String
    private let path: String

    /// - Returns: nil if it is not on PATH.
    package init?(_ name: String) {
        guard let path = ChildProgram.find(name) else { return nil }
        (self.name, self.path) = (name, path)
    }

    /// Runs it to its end, and returns its output.
    /// - Parameter place: subject of errors.
    /// - Throws: `UserError` with the program's message, if it fails.
    @discardableResult package func run(_ arguments: [String], on place: String) throws(UserError) -> [UInt8]
    {
        let nothing = open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer { close(nothing) }
        let child: ChildProgram
        let printed: [UInt8]
        do throws(SystemError) {
            child = try ChildProgram(
                path, arguments, input: nothing, environment: Self.variables, endsWithTerminal: true)
            printed = try child.readAll(limit: 64 << 20)
        } catch {
            throw UserError(.network, at: place, "\(path) can't be run: \(error.reason).")
        }
        let how: Message
        switch child.wait() {
        case .exit(0): return printed
        case .exit(let status): how = "ended with \(Int(status))"
        case .signal(let number): how = "was ended by signal \(Int(number))"
        }
        let lines = child.said().split(whereSeparator: \.isNewline)
            .filter { $0.contains { !$0.isWhitespace } }
        let words = lines.isEmpty ? "without a word" : lines.suffix(4).joined(separator: "; ").prefix(1000)
        throw UserError(.network, at: place, "\(name) \(how): \(words)")
    }
}
