import BatchPipeline
import Foundation
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
        /// Of the machine's limits at that time, 0 ... 1.
        var ofPeak: Double
        var ofMemory: Double
        /// The matrix products alone, of the peak.
        var productsOfPeak: Double
        /// Of the time, 0 ... 1.
        var products: Double
        var attention: Double
        var sampling: Double
    }

    private let engine: PhiEngine
    private let loadSeconds: Double
    /// The best of all that were measured.
    private var limits: MachineLimits
    private var rows: [Row] = []

    init(engine: PhiEngine, loadSeconds: Double, limits: MachineLimits) {
        self.engine = engine
        self.loadSeconds = loadSeconds
        self.limits = limits
    }

    /// - Parameter limits: the machine's, before and after the samples.
    mutating func add(_ test: BenchTest, _ samples: [Bench.Sample], limits now: MachineLimits) {
        limits = limits.max(now)
        let sorted = samples.sorted { Double($0.tokens) / $0.seconds < Double($1.tokens) / $1.seconds }
        let rates = sorted.map { Double($0.tokens) / $0.seconds }
        let median = sorted[sorted.count / 2]
        let multiplyAdds = Double(
            test.isPrefill
                ? engine.multiplyAdds(rows: median.tokens, wanted: 1)
                : engine.multiplyAdds(rows: median.tokens, wanted: median.tokens))
        rows.append(
            Row(
                test: test, tokensPerSecond: rates[rates.count / 2], lowest: rates[0],
                highest: rates[rates.count - 1],
                ofPeak: multiplyAdds / median.seconds / now.multiplyAddsPerSecond,
                ofMemory: Double(median.steps * engine.weightBytes) / median.seconds / now.bytesPerSecond,
                productsOfPeak: multiplyAdds / median.times.products / now.multiplyAddsPerSecond,
                products: median.times.products / median.seconds,
                attention: median.times.attention / median.seconds,
                sampling: median.times.sampling / median.seconds))
    }

    var table: String {
        func cell(_ text: String, _ width: Int) -> String {
            text + String(repeating: " ", count: max(0, width - text.count))
        }
        func percent(_ share: Double) -> String { String(format: "%.0f %%", share * 100) }
        let heads = [
            "test", "tokens/s", "lowest", "highest", "of peak", "of memory", "products", "of peak",
            "attention",
        ]
        let body = rows.map { row in
            [
                row.test.name, String(format: "%.1f", row.tokensPerSecond),
                String(format: "%.1f", row.lowest),
                String(format: "%.1f", row.highest), percent(row.ofPeak), percent(row.ofMemory),
                percent(row.products), percent(row.productsOfPeak), percent(row.attention),
            ]
        }
        let widths = heads.indices.map { column in ([heads] + body).map { $0[column].count }.max() ?? 0 }
        func line(_ cells: [String]) -> String {
            "| " + zip(cells, widths).map { cell($0, $1) }.joined(separator: " | ") + " |"
        }
        let rule = "|" + widths.map { String(repeating: "-", count: $0 + 2) }.joined(separator: "|") + "|"
        var lines = [line(heads), rule] + body.map(line)
        lines.append(
            String(
                format: "kernels %@, %d threads; peak %.0f billion multiply-adds/s, memory %.1f GB/s",
                engine.kernels.name, engine.threads, limits.multiplyAddsPerSecond * 1e-9,
                limits.bytesPerSecond * 1e-9))
        return lines.joined(separator: "\n")
    }

    var json: String {
        var writer = JSONWriter()
        writer.object { writer in
            writer.key("kernels")
            writer.string(engine.kernels.name)
            writer.key("threads")
            writer.int(engine.threads)
            writer.key("load_seconds")
            writer.number(loadSeconds)
            writer.key("weight_bytes")
            writer.int(engine.weightBytes)
            writer.key("multiply_adds_per_second")
            writer.number(limits.multiplyAddsPerSecond)
            writer.key("bytes_per_second")
            writer.number(limits.bytesPerSecond)
            writer.key("tests")
            writer.array { writer in
                for row in rows {
                    writer.object { writer in
                        writer.key("test")
                        writer.string(row.test.isPrefill ? "prefill" : "generation")
                        for (key, value) in [
                            ("requests", row.test.requests),
                            ("prompt_tokens", row.test.requests * row.test.prompt),
                            ("generated_tokens", row.test.requests * row.test.generated),
                        ] {
                            writer.key(key)
                            writer.int(value)
                        }
                        for (key, value) in [
                            ("tokens_per_second", row.tokensPerSecond), ("lowest", row.lowest),
                            ("highest", row.highest), ("of_peak", row.ofPeak), ("of_memory", row.ofMemory),
                            ("products_of_peak", row.productsOfPeak), ("products_share", row.products),
                            ("attention_share", row.attention), ("sampling_share", row.sampling),
                        ] {
                            writer.key(key)
                            writer.number(value)
                        }
                    }
                }
            }
        }
        return writer.text
    }
}
