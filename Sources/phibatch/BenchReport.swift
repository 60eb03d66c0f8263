import BatchPipeline
import FoundationShim
import JSON
import PhiModel

/// Test in one row of the table.
struct BenchTest {
    var requests: Int
    /// Tokens a request; prefill tests generate none.
    var prompt: Int
    var generated: Int

    var isPrefill: Bool { generated == 0 }
    var name: String { isPrefill ? "prefill \(prompt)" : "generate \(generated), batch \(requests)" }
}

/// Table and JSON of `bench`.
struct BenchReport {
    private struct Row {
        var test: BenchTest
        /// Medians of the runs and of the steps, by their names in JSON: tokens a second, then shares of the machine's
        /// limits at that time and shares of the time, 0 ... 1; nil if there is none.
        var figures: [(name: String, value: Double?)]
        /// Steps of all runs.
        var steps: [Bench.Step]
    }

    private let engine: any ModelEngine
    private let loadSeconds: Double
    /// The highest limits that were measured.
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
            guard samples.allSatisfy({ $0.times.multiplyAdds > 0 }) else { return nil }
            return median {
                Double($0.times.multiplyAdds) / seconds($0) / $0.limits.multiplyAddsPerSecond
            }
        }
        let steps = samples.flatMap { sample in
            sample.steps.map { step in
                var step = step
                if test.isPrefill { step.memory = sample.limits.bytesPerSecond }
                return step
            }
        }
        let figures: [(name: String, value: Double?)] = [
            ("tokens_per_second", median(\.tokensPerSecond)),
            ("lowest", samples.map(\.tokensPerSecond).min()),
            ("highest", samples.map(\.tokensPerSecond).max()),
            ("of_peak", ofPeak(\.seconds)),
            ("of_memory", steps.map(\.ofMemory).sorted()[steps.count / 2]),
            ("matmul_share", median { $0.times.matmul / $0.seconds }),
            ("matmul_of_peak", ofPeak(\.times.matmul)),
            ("attention_share", median { $0.times.attention / $0.seconds }),
            ("attention_of_memory", test.isPrefill ? nil : median { $0.attentionOfMemory ?? 0 }),
            ("sampling_share", median { $0.times.sampling / $0.seconds }),
        ]
        rows.append(Row(test: test, figures: figures, steps: steps))
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
            [row.test.name] + row.figures[..<3].map { ($0.value ?? 0).text(decimals: 1) }
                + row.figures[3..<9].map { percent($0.value) }
        }
        var lines = markdown([heads] + body)
        let processor = Kernels.processorFamily.map { " on \($0)" } ?? ""
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
            if let family = Kernels.processorFamily { writer.string("processor_family", family) }
            writer.int("threads", engine.threads)
            writer.number("load_seconds", loadSeconds)
            writer.int("weight_bytes", engine.weightBytes)
            writer.number("multiply_adds_per_second", limits.multiplyAddsPerSecond)
            writer.number("bytes_per_second", limits.bytesPerSecond)
            writer.objects("tests", rows) { writer, row in
                writer.string("test", row.test.isPrefill ? "prefill" : "generation")
                writer.int("requests", row.test.requests)
                writer.int("prompt_tokens", row.test.requests * row.test.prompt)
                writer.int("generated_tokens", row.test.requests * row.test.generated)
                for (name, value) in row.figures { if let value { writer.number(name, value) } }
                writer.objects("steps", row.steps) { writer, step in
                    writer.number("seconds", step.seconds)
                    writer.number("of_memory", step.ofMemory)
                    writer.number("memory_bytes_per_second", step.memory)
                }
            }
        }.text
    }
}
