import ArgumentParser
import OperatingSystem
import PhiModel

/// Times single matmuls by variant, shape and number of rows.
struct KernelsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kernels",
        abstract: "Time single matmuls of each kernel variant, at Phi-3-mini's shapes.")

    @Option(help: "Compute threads.")
    var threads = Processors.count

    func validate() throws {
        if threads < 1 { throw ValidationError("--threads must be 1 or more.") }
    }

    func run() throws { print(try table()) }

    /// Rows and columns of Phi-3-mini's matrices.
    private static let shapes = [(9216, 3072), (3072, 3072), (16384, 3072), (3072, 8192)]
    private static let tokens = [1, 4, 8, 16, 32, 512]

    /// Billions of multiply-adds a second, and their share of the variant's peak.
    private func table() throws -> String {
        var rows = [
            ["kernels", "rows x columns"] + Self.tokens.map { $0 == 1 ? "1 token" : "\($0) tokens" }
        ]
        var needs: [String] = []
        // The reference is a specification, and would take minutes.
        for kernels in Kernels.available where kernels.name != "reference" {
            let peak = try LimitProbe(kernels, ComputePool(threads: threads)).measure().multiplyAddsPerSecond
            for (height, width) in Self.shapes {
                PhibatchDev.note("\(kernels.name): \(height) x \(width)")
                let bench = try ProductBench(kernels: kernels, threads: threads, rows: height, columns: width)
                let rates = try Self.tokens.map { tokens in
                    let rate = try Double(height * width * tokens) / bench.seconds(tokens: tokens)
                    return "\((rate * 1e-9).text(decimals: 0)) (\((100 * rate / peak).text(decimals: 0)) %)"
                }
                rows.append([kernels.name, "\(height) x \(width)"] + rates)
            }
            needs.append("\(kernels.name) \((1000 * kernels.needed).text(decimals: 1))")
        }
        var lines = PhibatchDev.table(rows)
        lines.append(
            "billions of multiply-adds a second, and their share of what the variant's instructions can do on "
                + "registers; \(threads) threads, 4-bit weights in groups of 64, read from memory"
                + (Kernels.processorFamily.map { "; \($0)" } ?? ""))
        lines.append(
            "instructions per 1,000 multiply-adds that the arithmetic needs, without loads: "
                + needs.joined(separator: ", "))
        lines.append(
            "overhead of a parallel region in nanoseconds, without work and with 20 us for each thread: "
                + [2, 4, 8, 16, 32, 64].map(region).joined(separator: ", "))
        return lines.joined(separator: "\n")
    }

    private func region(threads: Int) -> String {
        PhibatchDev.note("regions of \(threads) threads")
        let seconds = RegionBench(threads: threads).seconds()
        return "\(threads): \((1e9 * seconds.empty).text(decimals: 0)) "
            + "and \((1e9 * seconds.shared).text(decimals: 0))"
    }
}
