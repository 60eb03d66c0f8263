import ArgumentParser

/// For `make install`.
struct ManualCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "manual", abstract: "Print the manual page, in mdoc.", shouldDisplay: false)

    func run() throws { print(ManualPage.text) }
}

/// The manual page, in mdoc, the language of BSD's and GNU's pages: the help of commands and topics as a terminal of 78
/// columns shows it.
enum ManualPage {
    private static let columns = 78

    /// Topics that are sections of a manual page, by the names that such sections have.
    private static let customary: [(title: String, topic: HelpTopic)] = [
        ("environment", .environment), ("files", .files), ("exit status", .exitCodes),
        ("examples", .pipelines),
    ]

    /// Options of these groups are the job's settings, of which the section JOB tells.
    private static let settings = ["Files", "Prompts", "Sampling", "Results", "Engine"].map {
        $0.uppercased() + ":\n"
    }

    static var text: String {
        var lines = [
            ".Dd \(Phibatch.released)", ".Dt PHIBATCH 1", ".Os", ".Sh NAME", ".Nm phibatch",
            ".Nd run a file of prompts through a quantized Phi model", ".Sh SYNOPSIS", ".Nm", ".Ar command",
            ".Op Ar options",
        ]
        func add(_ title: String, _ text: String) {
            let shown = text.trimmingLineFeeds.split(separator: "\n", omittingEmptySubsequences: false)
            lines += [title, ".Bd -literal"] + shown.map(escaped) + [".Ed"]
        }
        add(".Sh DESCRIPTION", HelpPage.list.text(columns: columns))
        lines.append(".Sh COMMANDS")
        for command in HelpPage.shownCommands {
            let blocks = Phibatch.helpMessage(for: command, columns: columns).replacing("\n\n", with: "\0")
                .split(separator: "\0").filter { block in !settings.contains { block.hasPrefix($0) } }
            add(".Ss phibatch \(command.configuration.commandName ?? "")", blocks.joined(separator: "\n\n"))
        }
        let others = HelpTopic.all.filter { topic in !customary.contains { $0.topic.name == topic.name } }
        for (title, topic) in others.map({ ($0.name.replacing("-", with: " "), $0) }) + customary {
            add(".Sh \(title.uppercased())", topic.text.shown(columns: columns))
        }
        return lines.joined(separator: "\n")
    }

    /// Without what roff would read as its own; a minus must stay one that can be copied.
    private static func escaped(_ line: Substring) -> String {
        let signs: [Character: String] = [
            "\\": "\\e", "-": "\\-", "~": "\\(ti", "^": "\\(ha", "`": "\\(ga", "'": "\\(aq", "\"": "\\(dq",
        ]
        let text = line.map { signs[$0] ?? String($0) }.joined()
        return text.hasPrefix(".") ? "\\&" + text : text
    }
}
