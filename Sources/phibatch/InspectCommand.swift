import ArgumentParser
import BatchEngine
import ModelHub
import OperatingSystem
import PhiModel

struct InspectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Describe a model, and what it takes on this machine.",
        discussion: """
            Reads the configuration, the headers of the weight files and the tokenizer, and shows geometry, \
            quantization by layer, tokens, chat template, memory for a number of requests, and the defaults on this \
            machine.

            --verify checks all files first. Files in Hugging Face's cache must have the hash in their names. Other \
            folders have no hashes; there the structure of files and all floats are checked.

            EXAMPLE:
              phibatch inspect phi-4-mini --workers 32 --length 4096
              phibatch inspect models/smollm2-demo --verify

            EXIT CODES:
              0    all is well                 69   the model can't be used, or --verify has found a fault
            """)

    @Argument(help: "The model: a folder, a GGUF file or a name.", completion: .directory)
    var model: String

    @Option(help: "Requests that run together, for the memory that they take.")
    var workers: Int?

    @Option(help: "Tokens of each request, prompt and completion.")
    var length: Int?

    @Flag(help: "Check all files against their published hashes.")
    var verify = false

    @Flag(help: "One JSON object instead of text.")
    var json = false

    func validate() throws {
        if let workers, workers < 1 { throw ValidationError("--workers must be 1 or more.") }
        if let length, length < 1 { throw ValidationError("--length must be 1 or more.") }
    }

    func run() throws {
        let console = Console(isQuiet: false)
        let folder = try ModelFetch(console: console, isOffline: false).folder(model, path: model)
        var report: VerifyReport?
        if verify {
            let found = try VerifyReport(folder: folder, console: console)
            guard found.faults.isEmpty else {
                for fault in found.faults { console.error(fault) }
                print(json ? found.json : found.text)
                throw ExitCode(69)
            }
            report = found
        }
        let inspection = try ModelInspection(folder: folder)
        for note in inspection.notes { console.warn("\(note)") }
        let answer = InspectReport(
            folder: folder, model: inspection, kernels: try Kernels.chosen().name,
            threads: Processors.count, workers: workers, length: length, verified: report)
        print(json ? answer.json : answer.text)
    }
}
