import ArgumentParser
import BatchPipeline
import Faults

/// Page of the help beside those of the commands: a Markdown file in `Topics`, shown as it is. Its first line is
/// `# NAME: SUMMARY`.
struct HelpTopic {
    let name: String
    let summary: String
    let text: String

    private init(_ file: [UInt8], appendix: String = "") {
        text = String(decoding: file, as: UTF8.self) + appendix
        let heading = text.prefix(until: "\n").split(separator: ": ", maxSplits: 1)
        name = String(heading.first?.dropFirst(2) ?? "")
        summary = String(heading.last ?? "")
    }

    /// In the order of the list.
    static let all: [HelpTopic] = [
        .init(PackageResources.job_md, appendix: settings), .init(PackageResources.input_md),
        .init(PackageResources.rows_md), .init(PackageResources.templates_md),
        .init(PackageResources.sampling_md), .init(PackageResources.answers_md),
        .init(PackageResources.choices_md), .init(PackageResources.score_md),
        .init(PackageResources.reasoning_md),
        .init(PackageResources.tools_md), .init(PackageResources.steps_md),
        .init(PackageResources.results_md),
        .init(PackageResources.resuming_md), .init(PackageResources.reuse_md),
        .init(PackageResources.files_md),
        .init(PackageResources.shards_md), .init(PackageResources.verify_md),
        .init(PackageResources.models_md),
        .init(PackageResources.engines_md), .init(PackageResources.pipelines_md),
        .init(PackageResources.pipe_md), .init(PackageResources.serve_md),
        .init(PackageResources.exit_codes_md), .init(PackageResources.environment_md),
    ]

    static func named(_ name: String) -> HelpTopic? { all.first { $0.name == name } }

    /// Items of the job topic, one a setting, from the table of settings.
    private static var settings: String {
        [
            ("Files", JobKey.files), ("Prompts", JobKey.prompt), ("Sampling", JobKey.sampling),
            ("Answers", JobKey.answers), ("Results", JobKey.results), ("Engine", JobKey.engine),
        ].map { title, keys in "\n## \(title)\n\n" + keys.map(item).joined() }.joined()
    }

    private static func item(_ key: JobKey) -> String {
        var lines = ["- `\(key.name)`:"]
        for word in key.sentence.split(at: " ") {
            if let line = lines.last, line.count + word.count < 80 {
                lines[lines.count - 1] = line + " " + word
            } else {
                lines.append("  " + word)
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Returns the page that the program's arguments ask for: a topic, or the list of commands and topics.
    ///
    /// - Parameter arguments: those of the program, without its name.
    /// - Returns: nil for the help of a command, which the parser shows, and for all that is no call for help.
    /// - Throws: `ExitCode` after a message that there is no such topic.
    static func page(_ arguments: [String]) throws -> String? {
        if arguments.isEmpty || arguments.count == 1 && ["help", "--help", "-h"].contains(arguments[0]) {
            return list
        }
        guard arguments[0] == "help", !arguments[1].hasPrefix("-"), arguments[1] != "help" else { return nil }
        let command = Phibatch.configuration.subcommands.first {
            $0.configuration.commandName == arguments[1]
        }
        guard arguments.count == 2, let topic = named(arguments[1]) else {
            guard command == nil else { return nil }
            Console.report(unknown(arguments.dropFirst().joined(separator: " ")))
            throw ExitCode(64)
        }
        return (command.map { Phibatch.helpMessage(for: $0) + "\n\n" } ?? "") + topic.text
    }

    private static var list: String {
        let topics = all.map { topic in
            "  \(topic.name)\(String(repeating: " ", count: max(2, 24 - topic.name.count)))\(topic.summary)\n"
        }
        return Phibatch.helpMessage() + "\n\nTOPICS:\n" + topics.joined()
            + "\n  See 'phibatch help <topic>' too.\n"
    }

    static func unknown(_ name: String) -> JobError {
        let commands = Phibatch.configuration.subcommands.map { $0.configuration }
        let known = commands.filter(\.shouldDisplay).compactMap(\.commandName)
        let hint = NearMiss.hint(for: name, among: all.map(\.name) + known)
        let topics = all.map(\.name).joined(separator: ", ")
        return Failure.usage(
            "there is no help on '\(name)'."
                + (hint.isEmpty ? " Topics are \(topics); and each command has help." : hint))
    }
}
