import BatchPipeline
import Errors
import OperatingSystem

/// Prepares the program's arguments for the parser.
enum Arguments {
    /// Splits `--name=VALUE` by bytes. The parser splits by characters, and a value that begins with a combining accent
    /// forms one character with the sign.
    static func prepared(_ arguments: some Sequence<String>) -> [String] {
        var prepared: [String] = []
        var areOptions = true
        for argument in arguments {
            if argument == "--" { areOptions = false }
            if areOptions, argument.hasPrefix("--"),
                let sign = argument.utf8.firstIndex(of: UInt8(ascii: "=")),
                argument[sign].utf8.count > 1
            {
                prepared.append(String(Substring(argument.utf8[..<sign])))
                prepared.append(String(Substring(argument.utf8[argument.utf8.index(after: sign)...])))
            } else {
                prepared.append(argument)
            }
        }
        return prepared
    }

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
