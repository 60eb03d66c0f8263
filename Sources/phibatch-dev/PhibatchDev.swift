import ArgumentParser
import BatchPipeline
import OperatingSystem
import PhiModel

/// Measurements for developers of phibatch. Built with the tests, and not installed.
@main
struct PhibatchDev: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "phibatch-dev",
        abstract: "Measures kernels, models and schemas, for developers of phibatch.",
        subcommands: [
            KernelsCommand.self, PerplexityCommand.self, SchemaSuiteCommand.self, SettingsCommand.self,
        ])

    /// Writes a line to stderr, since stdout carries results only.
    static func note(_ line: String) {
        try? Files.write(Array((line + "\n").utf8), to: 2)
    }

    /// Returns columns of equal width, as a Markdown table; the first row has the heads.
    static func table(_ rows: [[String]]) -> [String] {
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        var lines = rows.map { row in
            "| "
                + zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
                .joined(separator: " | ") + " |"
        }
        lines.insert("|" + widths.map { String(repeating: "-", count: $0 + 2) + "|" }.joined(), at: 1)
        return lines
    }
}

extension KVPrecision: ExpressibleByArgument {}
extension EngineKind: ExpressibleByArgument {}
