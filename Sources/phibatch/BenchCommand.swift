import ArgumentParser
import BatchPipeline
import OperatingSystem
import PhiModel

struct BenchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Measure a model's speed on this machine, beside the machine's own limits.",
        discussion: """
            Prefill reads one prompt in steps of at most 512 tokens, as in a job; generation advances several requests \
            together, each after a prompt. Token ids are random. Before the timing, memory is touched and one prompt \
            of at most 512 tokens is run. "of peak" is the share of the integer multiply-adds that the kernels' \
            instructions could do on registers, "of memory" the share of the bytes a second that can be read. Both are \
            measured before and after each run, in generation memory before and after each step, as bandwidth may \
            double within a second. The median of the runs is printed, for "of memory" that of the steps. Beside \
            "attention" it is the share for keys and values, in attention's own time.

            EXAMPLE:
              phibatch bench --model models/smollm2-demo --batch 1,8,32
            """)

    @Option(help: "The model: a folder, a GGUF file or a name.", completion: .directory)
    var model: String

    @Option(help: "Tokens of a prompt for prefill.")
    var prefill = 512

    @Option(help: "Numbers of requests that generate together, separated by commas.")
    var batch = "1,8,32"

    @Option(help: "Tokens of the prompt before generation.")
    var prompt = 128

    @Option(help: "Tokens generated a request.")
    var generate = 32

    @Option(help: "Runs of each test; the median is shown.")
    var repeats = 3

    @Option(help: "The engine: \(EngineKind.placeholder).")
    var engine = EngineKind.cpu

    @Option(help: "Compute threads.")
    var threads: Int?

    @Flag(help: "Print one JSON object instead of a table.")
    var json = false

    private var batches: [Int]? {
        let sizes = batch.split(at: ",").map { Int($0) ?? 0 }
        return sizes.isEmpty || sizes.contains { $0 < 1 } ? nil : sizes
    }

    func validate() throws {
        if batches == nil { throw ValidationError("--batch takes numbers like 1,8,32.") }
        for (name, value) in [
            ("prefill", prefill), ("prompt", prompt), ("generate", generate), ("repeats", repeats),
        ] where value < 1 {
            throw ValidationError("--\(name) must be 1 or more.")
        }
        if let threads, threads < 1 { throw ValidationError("--threads must be 1 or more.") }
    }

    func run() throws {
        let console = Console(isQuiet: false)
        console.progress("loading")
        let start = ContinuousClock.now
        let options = try EngineSettings(engine, threads: threads).checkedOptions()
        let engine = try engine.entry.load(ModelFetch.folder(model), options)
        let loading = (ContinuousClock.now - start).seconds
        console.progress("measuring the machine")
        let probe = try engine.makeProbe()
        var limits = probe.measure()
        var report = BenchReport(engine: engine, loadSeconds: loading)
        let bench = Bench(engine: engine, probe: probe)
        let tests =
            [BenchTest(requests: 1, prompt: prefill, generated: 0)]
            + (batches ?? []).map { BenchTest(requests: $0, prompt: prompt, generated: generate) }
        console.progress("warming up")
        try bench.warmUp(tests, repeats: repeats)
        for test in tests {
            var samples: [Bench.Sample] = []
            for number in 1...repeats {
                console.progress("\(test.name): run \(number) of \(repeats)")
                var sample = try bench.run(test)
                let after = probe.measure()
                sample.limits = limits.max(after)
                limits = after
                samples.append(sample)
            }
            report.add(test, samples)
        }
        console.say(
            "\(model): \(engine.weightBytes / 1_000_000) MB of weights, loaded in \(loading) s")
        print(json ? report.json : report.table)
    }
}

extension EngineKind: ExpressibleByArgument {}
