import BatchPipeline
import OperatingSystem
import Testing

@testable import phibatch

/// What the argument parser makes of a job's options, without the program around it.
@Suite struct JobOptionsTests {
    private static let required = ["--model", "m", "--input", "i", "--output", "o"]

    private func job(_ arguments: [String]) throws -> JobSettings {
        try JobOptions.parse(arguments).settings()
    }

    private func job(more arguments: [String]) throws -> JobSettings { try job(Self.required + arguments) }

    private func problem(_ arguments: [String]) -> String {
        do {
            _ = try job(more: arguments)
            return "no error"
        } catch let error as UserError {
            return error.description
        } catch { return Failure.usage(JobOptions.message(for: error)).description }
    }

    @Test func listsAreRepeated() throws {
        let job = try job(more: [
            "--stop=x", "--stop", "5", "--input", "j", "--logit-bias", "5=-100", "--logit-bias=7=2.5",
        ])
        #expect(job.stop == ["x", "5"] && job.input == ["i", "j"] && job.logitBias == [5: -100, 7: 2.5])
    }

    @Test func flagsHaveTwoWords() throws {
        let plain = try job(more: [])
        #expect(plain.chat && plain.tokens == nil && plain.ignoreEndOfSequence == nil)
        let turned = try job(more: ["--no-chat", "--tokens", "--ignore-eos"])
        #expect(!turned.chat && turned.tokens == true && turned.ignoreEndOfSequence == true)
        let same = try job(more: ["--chat", "--no-tokens", "--no-ignore-eos"])
        #expect(same.chat && same.tokens == false && same.ignoreEndOfSequence == false)
    }

    /// Numbers below 0, and texts that look like options.
    @Test func theWordAfterAnOptionIsItsValue() throws {
        let job = try job(more: [
            "--seed", "-5", "--presence-penalty", "-0.5", "--prompt", "--odd {{ prompt }}", "--stop", "--",
        ])
        #expect(job.seed == -5 && job.presencePenalty == -0.5)
        #expect(job.prompt == "--odd {{ prompt }}" && job.stop == ["--"])
    }

    @Test func aValueNeedNotBeUTF8() throws {
        let odd = String(pathBytes: [0x61, 0xFF])
        let job = try job(["--model=" + odd, "--input", odd, "--output", "o"])
        #expect(job.model == odd && job.input == [odd])
    }

    @Test func wrongOptionsAreNamed() {
        #expect(
            problem(["--max-token", "5"]) == "Unknown option '--max-token'. Did you mean '--max-tokens'?")
        #expect(problem(["--seed"]) == "Missing value for '--seed <N>'.")
        #expect(problem(["a.yaml", "b.yaml"]) == "one job file at a time: b.yaml is one too many.")
        #expect(problem(["-x"]) == "Unknown option '-x'.")
    }

    /// Each declared setting is an option, with a value or as a flag; but for what a job file alone can say.
    @Test func everySettingIsAnOption() throws {
        for key in JobKey.all(in: .option) {
            let arguments = key.form == .flag ? [key.option] : [key.option, "odd value"]
            let given = try JobOptions.parse(arguments).all.given
            #expect(given.map(\.key.name) == [key.name])
            #expect(given.first?.texts == [key.form == .flag ? "true" : "odd value"])
        }
    }

    @Test(arguments: [CompletionShellName.bash, .zsh, .fish])
    func completionScriptsNameTheOptions(shell: CompletionShellName) throws {
        let error = #expect(throws: (any Error).self) {
            try Phibatch.parseAsRoot(["--generate-completion-script=\(shell)"])
        }
        let arguments = ["--generate-completion-script=\(shell)"]
        let script = try HelpTopic.shown(Phibatch.message(for: #require(error)), for: arguments)
        for topic in HelpTopic.all.map(\.name) { #expect(script.contains(" \(topic)"), "\(topic)") }
        for key in JobKey.all(in: .option) {
            #expect(script.contains(key.optionName))
            for word in key.words { #expect(script.contains(word)) }
        }
        for command in Phibatch.configuration.subcommands where command.configuration.shouldDisplay {
            #expect(script.contains(command.configuration.commandName ?? "?"))
        }
    }

    enum CompletionShellName { case bash, zsh, fish }
}
