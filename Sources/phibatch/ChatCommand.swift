import ArgumentParser
import BatchPipeline
import FoundationShim
import ModelHub
import OperatingSystem
import PhiModel

struct ChatCommand: ParsableCommand {
    enum Settings: SettingGroup { static var keys: [JobKey] { JobKey.ofChats } }

    static let configuration = CommandConfiguration(
        commandName: "chat",
        abstract: "Talk with a model in the terminal.",
        usage: "phibatch chat [<model>] [--<setting> <value> ...] [--offline] [--quiet]",
        discussion: """
            Each line is a question; the model sees the whole conversation, and its answer shows as it is generated. \
            The default model is smollm2-demo, a small one (98 MB). A model that is not on this machine is fetched \
            first. /reset forgets the conversation except the system message, and /quit ends the chat.

            With readline or libedit, lines are edited as in a shell, with a history that is not written to a file. \
            Ctrl-C ends an answer, whose text so far stays in the conversation. At the prompt it drops the line. \
            Ctrl-D ends the chat.

            Answers go to stdout, everything else to stderr. On a terminal, control characters in an answer are shown \
            as escapes. In a pipe or a file each line is a question too, and empty lines are skipped; a line that \
            fails is reported, and the chat goes on.

            EXAMPLE:
              phibatch chat phi-4-mini --system "Answer in one sentence." --temperature 0
              printf 'What is salt?\\nAnd sugar?\\n' | phibatch chat --seed 1

            EXIT CODES:
                0    the end of a chat at a terminal, or all lines of the input were answered
                3    lines of a pipe or file failed
              64   wrong usage                69   the model can't be used
              74   stdout can't be written    129, 130, 143   stopped by SIGHUP, SIGINT, SIGTERM
            """)

    @Argument(help: "The model: a folder, a GGUF file or a name.", completion: .directory)
    var model: String?

    @OptionGroup(title: "Answers") var options: SettingOptions<Settings>

    @Flag(help: "Fetch nothing: a model that is not on this machine is an error.")
    var offline = false

    @Flag(name: .shortAndLong, help: "Answers and errors only.")
    var quiet = false

    func run() throws {
        var settings = JobSettings()
        settings.request = .ofChats
        try settings.apply(options.given)
        let console = Console(isQuiet: quiet)
        Signals.ignoreFailedWrites()
        let maker = try load(settings, console)
        var input = ChatInput()
        var chat = Chat(
            system: settings.system, maxTokens: settings.maxTokens ?? 0, output: output(console),
            maker: maker)
        try chat.run { input.next() }
        if chat.failures > 0, !input.isTerminal { throw ExitCode(3) }
    }

    private func output(_ console: Console) -> Chat.Output {
        let isTerminal = Terminal.isTerminal(1)
        return Chat.Output(
            answer: { text in
                try StandardOutput.write(Array((isTerminal ? text.escapedForTerminal : text).utf8))
            },
            reasoning: { text in
                // Dimmed, and never part of a file.
                guard isTerminal else { return }
                try StandardOutput.write(Array("\u{1B}[2m\(text.escapedForTerminal)\u{1B}[22m".utf8))
            },
            say: { console.say($0) }, fail: { console.error($0) },
            isInterrupted: { ChatInput.isInterrupted.load(ordering: .relaxed) })
    }

    private func load(_ settings: JobSettings, _ console: Console) throws -> Chat.AnswerMaker {
        let name = model ?? DemoModel.name
        let folder = try ModelFetch(console: console, isOffline: offline).folder(name, path: name)
        console.progress("loading \(name)")
        let start = ContinuousClock.now
        var options = try settings.engine.checkedOptions()
        options.adapter = settings.adapter
        let entry = options.engine.entry
        let engine = try entry.load(folder, options)
        guard engine.codec?.template != nil else {
            throw UserError(
                .missing, at: folder, "has no tokenizer.json or no chat template; a chat needs both.")
        }
        let container = ModelContainer(engine: engine, entry.kind, folder: folder, workers: 1)
        if console.isTerminal {
            console.say("\(name) is loaded (\(duration((ContinuousClock.now - start).seconds)))")
        }
        let answers = settings.request
        return { messages in
            var parameters = answers
            // Without a seed each answer is different.
            parameters.seed = parameters.seed ?? .random(in: .min ... .max)
            return container.generate(.messages(messages), parameters: parameters)
        }
    }
}
