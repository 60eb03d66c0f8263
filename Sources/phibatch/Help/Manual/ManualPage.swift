import ArgumentParser
import OperatingSystem

/// The manual page, made of the help of the commands and of topics, so that it says the same.
struct ManualPage {
    let program: CommandDescription

    /// Topics that are sections of a manual page, by the names that such sections have.
    private static let customary: [(title: String, topic: HelpTopic)] = [
        ("environment", .environment), ("files", .files), ("exit status", .exitCodes),
        ("examples", .pipelines),
    ]

    /// Options of these groups are the job's settings, which have a section for themselves.
    private static let settingGroups: Set = ["Files", "Prompts", "Sampling", "Results", "Engine"]

    var text: String {
        var page = ManualText()
        page.macro(".Dd \(Phibatch.released)")
        page.macro(".Dt PHIBATCH 1")
        page.macro(".Os")
        page.section("name")
        page.macro(".Nm phibatch")
        page.macro(".Nd run a file of prompts through a quantized Phi model")
        page.section("synopsis")
        for command in program.commands {
            page.macro(".Nm")
            page.append(synopsis(command))
        }
        page.section("description")
        page.append(program.abstract ?? "")
        page.append(HelpText(Self.withoutCodes(program.discussion ?? "")), isFirst: false)
        page.section("commands")
        for command in program.commands { append(command, to: &page, path: "phibatch") }
        for topic in HelpTopic.all where !Self.customary.contains(where: { $0.topic.name == topic.name }) {
            page.section(topic.title)
            page.append(topic.text)
        }
        for (title, topic) in Self.customary {
            page.section(title)
            page.append(topic.text)
        }
        page.section("see also")
        page.append("`phibatch help` lists commands and topics, and `phibatch help NAME` shows one.")
        return page.text
    }

    private func append(_ command: CommandDescription, to page: inout ManualText, path: String) {
        let path = path + " " + command.commandName
        page.subsection(path)
        page.append(command.abstract ?? "")
        if !command.commands.isEmpty { page.macro(".Pp") }
        for below in command.commands {
            page.append("`\(path) \(below.commandName)`: \(below.abstract ?? "")")
        }
        page.append(HelpText(Self.withoutCodes(command.discussion ?? "")), isFirst: false)
        let options = (command.options + command.commands.flatMap(\.options)).filter { option in
            !Self.settingGroups.contains(option.sectionTitle ?? "")
        }
        if !options.isEmpty {
            page.macro(".Bl -tag -width Ds")
            // A flag and its contrary have one explanation, and so are one item.
            let names = Dictionary(grouping: options) { $0.abstract ?? "" }
            for option in options where names[option.abstract ?? ""]?.first?.key == option.key {
                let same = names[option.abstract ?? ""] ?? []
                page.macro(".It \(same.map(Self.term).joined(separator: ", "))")
                page.append(Self.explanation(option))
            }
            page.macro(".El")
        }
        if command.options.count > options.count {
            page.macro(".Pp")
            page.append("The settings of a job are options too; the section JOB lists them.")
        }
    }

    private func synopsis(_ command: CommandDescription) -> String {
        let arguments = command.options.filter { $0.kind == "positional" }.compactMap(\.valueName)
        let words = arguments.map { " [\($0)]" }.joined()
        return "`\(command.commandName)`\(words)"
            + (command.options.count > arguments.count ? " [options]" : "")
    }

    /// Those of the program are in a section for themselves.
    private static func withoutCodes(_ discussion: String) -> String {
        discussion.replacing(Failure.exitCodes, with: "")
    }

    private static func term(_ option: CommandDescription.Argument) -> String {
        let value = option.valueName.map { ManualText.italic(ManualText.escaped($0)) } ?? ""
        guard let names = option.names else { return value }
        let text = names.map { ManualText.bold(ManualText.escaped($0.text)) }.joined(separator: ", ")
        return option.kind == "option" ? text + " " + value : text
    }

    private static func explanation(_ option: CommandDescription.Argument) -> String {
        let text = option.abstract ?? ""
        guard let value = option.defaultValue, !text.contains("default") else { return text }
        return text + " The default is `\(value)`."
    }
}

extension HelpTopic {
    /// As a heading.
    var title: String { name.replacing("-", with: " ") }
}
