import ArgumentParser
import Essentials

/// What the parser tells of a command and its arguments.
struct CommandDescription: Decodable {
    struct Argument: Decodable {
        struct Name: Decodable {
            var kind: String
            var name: String

            var text: String { kind == "long" ? "--" + name : "-" + name }
        }

        var abstract: String?
        var kind: String
        var names: [Name]?
        var sectionTitle: String?
        var shouldDisplay: Bool
        var valueName: String?
        var defaultValue: String?

        /// What it is known by.
        var key: String { names?.last?.text ?? valueName ?? "" }
    }

    var commandName: String
    var abstract: String?
    var discussion: String?
    var arguments: [Argument]?
    var subcommands: [CommandDescription]?
    var shouldDisplay: Bool

    /// The whole program.
    /// - Throws: if the parser describes itself in another way than it did.
    static func program() throws -> CommandDescription {
        struct Dump: Decodable { var command: CommandDescription }
        return try JSONDecoder().decode(Dump.self, from: Data(Phibatch._dumpHelp().utf8)).command
    }

    /// Those that are in the help, but for help's own.
    var commands: [CommandDescription] {
        (subcommands ?? []).filter { $0.shouldDisplay && $0.commandName != "help" }
    }

    /// Its own; `--help` and `--version` are the same everywhere.
    var options: [Argument] {
        (arguments ?? []).filter { argument in
            argument.shouldDisplay
                && !(argument.names ?? []).contains { ["help", "version"].contains($0.name) }
        }
    }
}
