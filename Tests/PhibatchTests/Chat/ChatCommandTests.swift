import Foundation
import Testing

/// `phibatch chat` with the embedded model, at a terminal and in a pipe.
@Suite(.tags(.slow), .enabled(if: DemoJob.canRun, "the demo model is not there; make test fetches it"))
struct ChatCommandTests {
    private func folder() throws -> String {
        let folder = FileManager.default.temporaryDirectory.path + "/phibatch-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        return folder
    }

    private func chat(_ input: String, _ more: String...) throws -> Program.Result {
        try Program.run(
            ["chat", DemoJob.model ?? "", "--temperature", "0", "--max-tokens", "12", "--threads", "1"]
                + more,
            input: input)
    }

    @Test func linesOfAPipeAreTurns() throws {
        let twice = try chat("What is salt?\n\n/reset\nWhat is salt?\n/quit\nno")
        #expect(twice.status == 0, "\(twice.errors)")
        let half = twice.output.prefix(twice.output.count / 2)
        #expect(!half.isEmpty && twice.output == half + half, "\(twice.output)")
        #expect(
            twice.errors.matches(of: /12 tokens, [0-9.]+ tokens\/s; length: --max-tokens is 12\n/).count == 2)
        #expect(!twice.errors.contains("loading") && !twice.output.contains("> "))
        // A job has the same answer.
        let job = try Program.run(
            [
                "run", "--model", DemoJob.model ?? "", "--input", "-", "--output", "-", "--max-tokens", "12",
                "--threads", "1",
            ], input: #"{"prompt": "What is salt?"}"#)
        #expect(job.status == 0, "\(job.errors)")
        let answer = try JSONDecoder().decode(
            [String: String].self, from: Data("{\"text\":\"\(half.dropLast())\"}".utf8))
        #expect(job.output.contains("\"text\":\"\(answer["text"] ?? "")\""), "\(job.output) \(half)")
    }

    @Test func whatFailsShowsInTheStatus() throws {
        let long = String(repeating: "one two ", count: 5000)
        let result = try chat("/nothing\n\(long)\nHello")
        #expect(result.status == 3 && !result.output.isEmpty)
        #expect(
            result.errors.contains("/nothing is not a command")
                && result.errors.contains("the model's context holds"))
        let wrong = try Program.run(["chat", "--temperature", "11"])
        #expect(wrong.status == 64 && wrong.errors.contains("--temperature must be a number from 0 to 10"))
        let missing = try Program.run(["chat", "./none"], input: "Hi\n")
        #expect(missing.status == 69, "\(missing.errors)")
        let help = try Program.run(["chat", "--help"])
        #expect(
            help.status == 0 && help.output.contains("--max-tokens") && help.output.contains("default 0.7"))
    }

    @Test func theEmbeddedModelIsFoundFromItsFolder() throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.createDirectory(atPath: folder + "/models", withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: folder + "/models/smollm2-demo", withDestinationPath: DemoJob.model ?? "")
        let result = try Program.run(["chat", "--max-tokens", "2"], input: "Hello\n", folder: folder)
        #expect(result.status == 0 && !result.output.isEmpty, "\(result.errors)")
    }

    // MARK: At a terminal

    private func atTerminal(
        _ folder: String, temperature: Int = 0, _ more: String...
    ) throws -> TerminalProgram {
        try TerminalProgram(
            ["chat", DemoJob.model ?? "", "--temperature", "\(temperature)", "--threads", "1"] + more,
            folder: folder)
    }

    @Test func anAnswerIsInterruptedAndTheChatGoesOn() throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        // Drawn, as what repeats itself is soon at its end.
        let program = try atTerminal(
            folder, temperature: 1, "--max-tokens", "2000", "--logit-bias", "2=-100")
        try program.expect("loading")
        try program.expect("is loaded")
        try program.expect("> ")
        // Edited: a letter too many, and a word that is put before it.
        program.type("is rainn?\u{1B}[D\u{7F}\u{01}What \r")
        try program.expect("What")
        // What readline shows once it has a line; what follows is the answer.
        try program.expect("\u{1B}[?2004l")
        try program.expect(" ")
        program.type("\u{03}")
        try program.expect("phibatch: interrupted")
        try program.expect("> ")
        program.type("\u{1B}[A")
        try program.expect("What is rain?")
        // At the prompt it drops the line.
        program.type("\u{03}")
        try program.expect("ends the chat")
        try program.expect("> ")
        // A paste of two lines is one question.
        program.type("\u{1B}[200~And snow?\rAnd hail?\u{1B}[201~\r")
        try program.expect("And hail?")
        try program.expect("\u{1B}[?2004l")
        try program.expect(" ")
        program.type("\u{03}")
        try program.expect("phibatch: interrupted")
        try program.expect("> ")
        #expect(!program.echoes)
        program.type("\u{04}")
        #expect(try program.end() == 0, "\(program.text)")
        #expect(program.echoes)
    }

    @Test(
        arguments: [SIGTERM, SIGHUP])
    func signalsLeaveTheTerminalAsItWas(signal: Int32) throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let program = try atTerminal(folder)
        try program.expect("> ")
        program.type("half a line")
        try program.expect("half a line")
        #expect(!program.echoes)
        program.send(signal)
        // A signal's number is above 1000.
        #expect(try program.end() == 1000 + signal, "\(program.text)")
        #expect(program.echoes, "\(program.text)")
    }

    /// The model is made to write ESC.
    @Test func answersDoNotSteerTheTerminal() throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let ids = try Program.run(
            ["tokenize", "--model", DemoJob.model ?? ""], input: #"{"text":"\u001b"}"# + "\n"
        ).output
        let id = try #require(ids.firstMatch(of: /"ids":\[(\d+)\]/)?.1, "\(ids)")
        let evil = ["--max-tokens", "3", "--logit-bias", "\(id)=100"]
        let program = try atTerminal(folder, evil[0], evil[1], evil[2], evil[3])
        try program.expect("> ")
        program.type("Hi\r")
        try program.expect("\\u{1B}\\u{1B}\\u{1B}\r\n")
        program.type("/quit\r")
        #expect(try program.end() == 0)
        // In a file the text is what the model wrote.
        #expect(try chat("Hi\n", evil[2], evil[3]).output == String(repeating: "\u{1B}", count: 12) + "\n")
    }
}
