import ArgumentParser
import BatchEngine
import BatchPipeline
import Errors

/// Page of the help besides those of commands: a Markdown file in `Topics`, shown as it is. Its first line is `# NAME:
/// SUMMARY`.
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
        .init(PackageResources.job_md, appendix: settings),
        .init(PackageResources.input_md, appendix: ofLines),
        .init(PackageResources.rows_md), .init(PackageResources.templates_md),
        .init(PackageResources.sampling_md, appendix: steps), .init(PackageResources.answers_md),
        .init(PackageResources.choices_md), .init(PackageResources.score_md),
        .init(PackageResources.reasoning_md),
        .init(PackageResources.tools_md), .init(PackageResources.steps_md),
        .init(PackageResources.results_md, appendix: times),
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

    /// Items of the results' topic, one a time.
    private static var times: String {
        "\n## Times\n\n"
            + ResultTime.all.map { "- `\($0.name)`: \($0.about), in \($0.unit.rawValue).\n" }
            .joined()
    }

    /// Steps by which a token is chosen, from the table of settings.
    private static var steps: String {
        let settings = RequestSetting.all.filter { $0.order != nil }.sorted { $0.order ?? 0 < $1.order ?? 0 }
        return "\n## The steps\n\n"
            + settings.enumerated().map { filled("\($0 + 1). `\($1.name)`:", $1.help) }.joined()
    }

    private static var ofLines: String {
        let names = LineReading.names.map { "`\($0)`" }.joined(separator: ", ")
        return "\n" + filled("Settings of lines:", names + ".", indent: "")
    }

    /// Adapts the parser's text: settings are in the job's topic, and shells complete topics, too.
    static func shown(_ text: String, for arguments: [String] = []) -> String {
        var text = text
        let (head, end) = ("\nSETTINGS OF THE JOB:\n", "\nOPTIONS:\n")
        if !arguments.contains(where: { $0.hasSuffix("help-hidden") }), let start = text.firstRange(of: head),
            let rest = text[start.upperBound...].firstRange(of: end)
        {
            let place = "  Each is an option, too (--max-tokens 64): \"phibatch help job\" lists all,\n"
            text.replaceSubrange(
                start.upperBound..<rest.lowerBound,
                with: place + "  \"phibatch help max_tokens\" shows one.\n")
        }
        if let start = text.firstRange(of: "\nOPTIONS OF RUN:\n"),
            let rest = text[start.upperBound...].firstRange(of: end)
        {
            let place = "  All of them, too, such as --dry-run: \"phibatch help run\".\n"
            text.replaceSubrange(start.upperBound..<rest.lowerBound, with: place)
        }
        guard arguments.contains(where: { $0.hasPrefix("--generate-completion-script") }) else { return text }
        let commands = Phibatch.configuration.subcommands.compactMap { $0.configuration.commandName }
        let names = (commands + all.map(\.name)).joined(separator: " ")
        let words = "COMPREPLY=($(compgen -W '\(names)' -- \"${COMP_WORDS[COMP_CWORD]}\"))"
        text = text.replacing(
            each: "_phibatch_help() {\n    rep", with: "_phibatch_help() {\n    \(words)\n    return\n    rep"
        )
        text = text.replacing(each: "'*:subcommands:'", with: "'*:topic:(\(names))'")
        guard text.contains("__phibatch_should_offer_completions_for_positional") else { return text }
        return text
            + "\ncomplete -c phibatch -n '__phibatch_should_offer_completions_for_positional \"phibatch help\" -ge 1' -fa '\(names)'"
    }

    private static func item(_ key: JobKey) -> String { filled("- `\(key.name)`:", key.sentence) }

    /// Returns a text in lines of at most 80 characters.
    private static func filled(_ start: String, _ text: String, indent: String = "  ") -> String {
        var lines = [start]
        for word in text.split(at: " ") {
            if let line = lines.last, line.count + word.count < 80 {
                lines[lines.count - 1] = line + " " + word
            } else {
                lines.append(indent + word)
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Returns the page that the program's arguments ask for: a topic, or the list of commands and topics.
    ///
    /// - Parameter arguments: those of the program, without its name.
    /// - Returns: nil for a command's help, which the parser shows, and for arguments that don't ask for help.
    /// - Throws: `UserError` if there is no such topic.
    static func page(_ arguments: [String]) throws -> String? {
        if arguments.isEmpty || arguments.count == 1 && ["help", "--help", "-h"].contains(arguments[0]) {
            return list
        }
        guard arguments[0] == "help" else { return nil }
        if arguments.count == 2, named(arguments[1]) == nil,
            let key = JobKey.named(arguments[1].drop { $0 == "-" }.replacing(each: "-", with: "_"))
        {
            return item(key).dropFirst(2)
                + (key.places.contains(.option) ? "\nAs an option: \(key.way)\n" : "")
        }
        guard !arguments[1].hasPrefix("-"), arguments[1] != "help" else { return nil }
        let command = Phibatch.configuration.subcommands.first {
            $0.configuration.commandName == arguments[1]
        }
        guard arguments.count == 2, let topic = named(arguments[1]) else {
            guard command == nil else { return nil }
            throw unknown(arguments.dropFirst().joined(separator: " "))
        }
        return (command.map { shown(Phibatch.helpMessage(for: $0)) + "\n\n" } ?? "") + topic.text
    }

    private static var list: String {
        let topics = all.map { topic in
            "  \(topic.name)\(String(repeating: " ", count: max(2, 24 - topic.name.count)))\(topic.summary)\n"
        }
        return Phibatch.helpMessage() + "\n\nTOPICS:\n" + topics.joined()
            + "\n  See 'phibatch help <topic>', and 'phibatch help <setting>' for one of a job's settings.\n"
    }

    static func unknown(_ name: String) -> UserError {
        let commands = Phibatch.configuration.subcommands.map { $0.configuration }
        let known = commands.filter(\.shouldDisplay).compactMap(\.commandName)
        let hint = NearMiss.hint(for: name, among: all.map(\.name) + known + JobKey.all.map(\.name))
        let topics = all.map(\.name).joined(separator: ", ")
        return Failure.usage(
            "there is no help on '\(name)'."
                + (hint.isEmpty ? " Topics are \(topics); and each command has help." : hint))
    }
}
