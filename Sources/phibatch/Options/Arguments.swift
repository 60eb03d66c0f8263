import BatchPipeline
import Errors
import OperatingSystem

/// Mistakes in the program's arguments that the parser would misread.
enum Arguments {
    /// Returns what to use instead of an unknown command; nil for a known one.
    static func advice(for arguments: some Collection<String>) -> String? {
        let name = arguments.first ?? ""
        let commands =
            Phibatch.configuration.subcommands.compactMap { $0.configuration.commandName } + ["help"]
        guard !name.isEmpty, !name.hasPrefix("-"), !commands.contains(name) else {
            return nil
        }
        let hint = Files.kind(of: name) == .regular ? " Did you mean phibatch run \(name)?" : ""
        let near = hint.isEmpty ? NearMiss.hint(for: name, among: commands) : hint
        return "there is no command '\(name)'.\(near.isEmpty ? " 'phibatch help' lists them." : near)"
    }

    /// Returns a slip such as `-chat`, which the parser would take for -h, a request for help.
    static func slip(in arguments: [String]) -> String? {
        let calls = ["-h", "--help", "-help", "help", "--help-hidden", "-help-hidden"]
        guard !arguments.contains(where: calls.contains) else { return nil }
        return arguments.first { $0.hasPrefix("-") && !$0.hasPrefix("--") && $0.utf8.count > 2 }
    }
}
