import BatchPipeline
import Essentials
import JSON
import PhiModel

/// What one row of the table measures.
struct BenchTest {
    var requests: Int
    /// Tokens a request; prefill tests generate none.
    var prompt: Int
    var generated: Int

    var isPrefill: Bool { generated == 0 }
    var name: String { isPrefill ? "prefill \(prompt)" : "generate \(generated), batch \(requests)" }
}

/// What `bench` prints.
struct BenchReport {
    private struct Row {
        var test: BenchTest
        var tokensPerSecond: Double
        var lowest: Double
        var highest: Double
        /// Shares of the machine's limits at that time, 0 ... 1; the medians of the runs, and of the steps.
        var ofPeak: Double?
        var ofMemory: Double
        /// The matmuls alone, of the peak.
        var matmulOfPeak: Double?
        /// Shares of the time, 0 ... 1.
        var matmul: Double
        var attention: Double
        /// Its share of memory's speed, 0 ... 1; nil in prefill.
        var attentionOfMemory: Double?
        var sampling: Double
        /// All runs' steps.
        var steps: [Bench.Step]
    }

    private let engine: any ModelEngine
    private let loadSeconds: Double
    /// The best of all that were measured.
    private var limits = MachineLimits()
    private var rows: [Row] = []

    init(engine: any ModelEngine, loadSeconds: Double) {
        self.engine = engine
        self.loadSeconds = loadSeconds
    }

    mutating func add(_ test: BenchTest, _ samples: [Bench.Sample]) {
        limits = samples.reduce(limits) { $0.max($1.limits) }
        func median(_ value: (Bench.Sample) -> Double) -> Double {
            samples.map(value).sorted()[samples.count / 2]
        }
        func ofPeak(_ seconds: (Bench.Sample) -> Double) -> Double? {
            guard samples.allSatisfy({ $0.work != nil }) else { return nil }
            return median {
                Double($0.work?.multiplyAdds ?? 0) / seconds($0) / $0.limits.multiplyAddsPerSecond
            }
        }
        let steps = samples.flatMap { sample in
            sample.steps.map { step in
                var step = step
                if test.isPrefill { step.memory = sample.limits.bytesPerSecond }
                return step
            }
        }
        rows.append(
            Row(
                test: test, tokensPerSecond: median(\.tokensPerSecond),
                lowest: samples.map(\.tokensPerSecond).min() ?? 0,
                highest: samples.map(\.tokensPerSecond).max() ?? 0,
                ofPeak: ofPeak(\.seconds),
                ofMemory: steps.map(\.ofMemory).sorted()[steps.count / 2],
                matmulOfPeak: ofPeak(\.times.matmul),
                matmul: median { $0.times.matmul / $0.seconds },
                attention: median { $0.times.attention / $0.seconds },
                attentionOfMemory: test.isPrefill ? nil : median { $0.attentionOfMemory ?? 0 },
                sampling: median { $0.times.sampling / $0.seconds }, steps: steps))
    }

    var table: String {
        func percent(_ share: Double?) -> String {
            share.map { ($0 * 100).text(decimals: 0) + " %" } ?? "-"
        }
        let heads = [
            "test", "tokens/s", "lowest", "highest", "of peak", "of memory", "matmul", "of peak",
            "attention", "of memory",
        ]
        let body = rows.map { row in
            [
                row.test.name, row.tokensPerSecond.text(decimals: 1),
                row.lowest.text(decimals: 1),
                row.highest.text(decimals: 1), percent(row.ofPeak), percent(row.ofMemory),
                percent(row.matmul), percent(row.matmulOfPeak), percent(row.attention),
                percent(row.attentionOfMemory),
            ]
        }
        var lines = markdown([heads] + body)
        let processor = ProcessorFamily.current.name.map { " on \($0)" } ?? ""
        let peak = (limits.multiplyAddsPerSecond * 1e-9).text(decimals: 0)
        let memory = (limits.bytesPerSecond * 1e-9).text(decimals: 1)
        lines.append(
            "kernels \(engine.kernelName)\(processor), \(engine.threads) threads; "
                + "peak \(peak) billion multiply-adds/s, memory \(memory) GB/s")
        return lines.joined(separator: "\n")
    }

    var json: String {
        JSONWriter.object { writer in
            writer.string("kernels", engine.kernelName)
            if let family = ProcessorFamily.current.name { writer.string("processor_family", family) }
            writer.int("threads", engine.threads)
            writer.number("load_seconds", loadSeconds)
            writer.int("weight_bytes", engine.weightBytes)
            writer.number("multiply_adds_per_second", limits.multiplyAddsPerSecond)
            writer.number("bytes_per_second", limits.bytesPerSecond)
            writer.objects("tests", rows) { writer, row in
                writer.string("test", row.test.isPrefill ? "prefill" : "generation")
                for (key, value) in [
                    ("requests", row.test.requests),
                    ("prompt_tokens", row.test.requests * row.test.prompt),
                    ("generated_tokens", row.test.requests * row.test.generated),
                ] {
                    writer.int(key, value)
                }
                for (key, value) in [
                    ("tokens_per_second", row.tokensPerSecond), ("lowest", row.lowest),
                    ("highest", row.highest), ("of_peak", row.ofPeak), ("of_memory", row.ofMemory),
                    ("matmul_of_peak", row.matmulOfPeak), ("matmul_share", row.matmul),
                    ("attention_share", row.attention), ("sampling_share", row.sampling),
                    ("attention_of_memory", row.attentionOfMemory),
                ] {
                    if let value { writer.number(key, value) }
                }
                write(row.steps, &writer)
            }
        }.text
    }

    private func write(_ steps: [Bench.Step], _ writer: inout JSONWriter) {
        writer.objects("steps", steps) { writer, step in
            for (key, value) in [
                ("seconds", step.seconds), ("of_memory", step.ofMemory),
                ("memory_bytes_per_second", step.memory),
            ] {
                writer.number(key, value)
            }
        }
    }
}
