import ArgumentParser
import BatchPipeline
import Faults
import OperatingSystem

/// What `phibatch help` shows that the parser does not know: topics, and the list of them.
enum HelpPage {
    /// Commands, and below them topics.
    case list
    case topic(HelpTopic)
    /// A topic that has a command's name.
    case command(any ParsableCommand.Type, HelpTopic)

    /// - Parameter arguments: the program's, without its name.
    /// - Returns: nil if the parser knows better: for help of a command, and all that is no call for help.
    /// - Throws: `ExitCode` after saying that there is no such topic.
    init?(_ arguments: some Collection<String>) throws {
        let words = Array(arguments)
        if words.isEmpty || ["help", "--help", "-h"].contains(words[0]) && words.count == 1 {
            self = .list
            return
        }
        guard words[0] == "help", !words[1].hasPrefix("-") else { return nil }
        let command = Self.commands.first { $0.configuration.commandName == words[1] }
        if words.count == 2, let topic = HelpTopic.named(words[1]) {
            self = command.map { .command($0, topic) } ?? .topic(topic)
            return
        }
        guard command == nil, words[1] != "help" else { return nil }
        Console.report(Self.unknown(words.dropFirst().joined(separator: " ")))
        throw ExitCode(64)
    }

    private static let commands = Phibatch.configuration.subcommands
    static let shownCommands = commands.filter { $0.configuration.shouldDisplay }

    static func unknown(_ name: String) -> JobError {
        let known = shownCommands.compactMap { $0.configuration.commandName }
        let topics = HelpTopic.all.map(\.name)
        let hint = NearMiss.hint(for: name, among: topics + known)
        return Failure.usage(
            hint.isEmpty
                ? "there is no help on '\(name)'. Topics are \(topics.joined(separator: ", ")); and each command has help."
                : "there is no help on '\(name)'.\(hint)")
    }

    /// The terminal's width, as the parser takes it.
    static var columns: Int {
        ProgramCall.path(inVariable: "COLUMNS").flatMap { Int($0) } ?? Platform.terminalSize(1)?.columns ?? 80
    }

    func text(columns: Int) -> String {
        switch self {
        case .list:
            let topics = HelpTopic.all.map { topic in
                "- \(topic.name)\(String(repeating: " ", count: max(0, 20 - topic.name.count))) :: \(topic.summary)"
            }
            return Phibatch.helpMessage(columns: columns).trimmingLineFeeds + "\n\n"
                + HelpText("TOPICS:\n" + topics.joined(separator: "\n")).shown(columns: columns)
                + "\n\n  See 'phibatch help <topic>' too."
        case .topic(let topic): return topic.shown(columns: columns)
        case .command(let command, let topic):
            return Phibatch.helpMessage(for: command, columns: columns).trimmingLineFeeds + "\n\n"
                + topic.shown(columns: columns)
        }
    }
}

extension HelpTopic {
    static func named(_ name: String) -> HelpTopic? { all.first { $0.name == name } }

    func shown(columns: Int) -> String {
        "TOPIC: \(name): \(summary)\n\n" + text.shown(columns: columns)
    }
}

extension String {
    var trimmingLineFeeds: String {
        String(reversed().drop { $0 == "\n" }.reversed())
    }
}
