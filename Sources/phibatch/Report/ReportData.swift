import BatchPipeline
import JSON
import OperatingSystem

/// The numbers of a report as the page's script reads them.
struct ReportData {
    private let report: ResultReport
    private let name: String
    private let model: String?
    private var statistics: ReportStatistics { report.statistics }

    init(_ report: ResultReport, name: String, model: String?) {
        (self.report, self.name, self.model) = (report, name, model ?? report.statistics.model)
    }

    var json: [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.string("name", name.showingBytes)
            writer.string("state", report.source.state.rawValue)
            writer.optional("model", model.flatMap { $0.isEmpty ? nil : $0 }) { $0.string($1) }
            writer.int("made", FileState.now / 1_000_000_000)
            writer.string("version", Phibatch.version)
            writer.int("results", statistics.results)
            writer.int("lines", statistics.lines)
            writer.int("failed", statistics.failed)
            writer.int("prompt_tokens", statistics.promptTokens)
            writer.int("completion_tokens", statistics.completionTokens)
            writeFields(&writer)
            writeThroughput(&writer)
            writer.object("lengths") { writer in
                Self.write("prompt", statistics.prompts, areWhole: true, &writer)
                Self.write("completion", statistics.completions, areWhole: true, &writer)
            }
            writer.object("latency") { writer in
                Self.write("queued", statistics.queued, &writer)
                Self.write("prefill", statistics.prefill, &writer)
                Self.write("decode", statistics.decode, &writer)
                Self.write("total", statistics.total, &writer)
                Self.write("speed", statistics.speed, &writer)
            }
            writeFunnel(&writer)
            writeStatuses(&writer)
            writer.array("notes", notes) { $0.string($1) }
            writer.array("settings") { writer in
                for (name, value) in report.source.settings {
                    writer.array { writer in
                        writer.string(name)
                        writer.string(value)
                    }
                }
            }
            writer.object("table") { writer in
                writer.int("rows", report.rowCount)
                writer.int("piece", ReportPage.pieceLength)
                writer.bool("prompts", report.hasPrompts)
            }
        }
        return writer.bytes
    }

    private func writeThroughput(_ writer: inout JSONWriter) {
        writer.key("throughput")
        let throughput = statistics.throughput
        guard !throughput.isEmpty else { return writer.null() }
        let curve = throughput.curve()
        writer.object { writer in
            writer.number("width", curve.width)
            writer.number("first", throughput.first)
            writer.number("last", throughput.last)
            writer.number("busy", curve.busy)
            writer.number("tokens", throughput.tokens)
            writer.objects("parts", curve.parts) { writer, part in
                writer.number("start", part.start)
                writer.array("rates", part.rates) { $0.number(($1 * 1000).rounded() / 1000) }
            }
        }
    }

    private static func write(
        _ name: String, _ values: Distribution, areWhole: Bool = false, _ writer: inout JSONWriter
    ) {
        writer.key(name)
        let percentiles = values.percentiles([50, 90, 99])
        guard percentiles.count == 3 else { return writer.null() }
        let histogram = values.histogram(areWhole: areWhole)
        func shown(_ value: Double) -> Double {
            areWhole && !values.isExact ? value.rounded() : (value * 1000).rounded() / 1000
        }
        writer.object { writer in
            writer.int("count", values.count)
            writer.number("min", values.minimum)
            writer.number("max", values.maximum)
            writer.number("mean", (values.mean * 1000).rounded() / 1000)
            writer.number("p50", shown(percentiles[0]))
            writer.number("p90", shown(percentiles[1]))
            writer.number("p99", shown(percentiles[2]))
            writer.bool("whole", areWhole)
            writer.bool("log", histogram.isLogarithmic)
            writer.array("bins") { writer in
                for bin in histogram.bins {
                    writer.array { writer in
                        writer.number(bin.range.lowerBound)
                        writer.number(bin.range.upperBound)
                        writer.int(bin.count)
                    }
                }
            }
        }
    }

    private func writeFunnel(_ writer: inout JSONWriter) {
        writer.key("funnel")
        let funnel = statistics.funnel
        guard funnel.steps.contains(where: { $0.made > 0 }) else { return writer.null() }
        writer.object { writer in
            writer.objects("steps", funnel.steps) { writer, step in
                writer.string("name", step.name)
                writer.int("made", step.made)
                writer.int("dropped", step.dropped)
                writer.int("duplicates", step.duplicates)
            }
            writer.int("accepted", funnel.accepted)
        }
    }

    private func writeStatuses(_ writer: inout JSONWriter) {
        writer.objects("statuses", statistics.statuses) { writer, status in
            writer.string("name", status.name)
            writer.bool("error", status.isError)
            writer.int("count", status.count)
            Self.write("messages", status.messages.top(5), &writer)
        }
    }

    private static func write(_ name: String, _ values: [CommonValues.Entry], _ writer: inout JSONWriter) {
        writer.array(name, values) { writer, value in
            writer.array { writer in
                writer.string(value.text)
                writer.int(value.count)
            }
        }
    }

    private func writeFields(_ writer: inout JSONWriter) {
        let columns = statistics.fields.columns
        writer.objects("fields", statistics.fields.all) { writer, field in
            writer.string("name", ReportedField.name(of: field.path))
            writer.string("of", field.origin.rawValue)
            let column = columns.firstIndex { $0.path == field.path && $0.origin == field.origin }
            writer.optional("column", column) { $0.int($1) }
            writer.int("count", field.count)
            writer.objects("kinds", field.kinds.sorted { ($1.value, $0.key) < ($0.value, $1.key) }) {
                $0.string("name", $1.key)
                $0.int("count", $1.value)
            }
            writer.optional("distinct", field.values.distinct) { $0.int($1) }
            Self.write("values", field.values.top(20), &writer)
            Self.write("numbers", field.numbers, areWhole: field.areWhole, &writer)
            Self.write("lengths", field.lengths, areWhole: true, &writer)
        }
    }

    /// What a reader of the page should know beside its numbers.
    private var notes: [String] {
        var notes: [String] = []
        let source = report.source
        switch source.state {
        case .complete: break
        case .running: notes.append("A run is making these results: the page shows those that were there.")
        case .stopped: notes.append("The run was stopped before its end: the page shows what it has made.")
        }
        if source.hasOtherOutput {
            notes.append("An earlier output is in place; the page is of the run that will replace it.")
        }
        if source.isWithoutFailures {
            notes.append("The job puts lines that fail into a file of their own; they are not on this page.")
        }
        if source.damaged > 0 {
            let place = source.firstDamaged.map { "; the first is line \($0)" } ?? ""
            notes.append("Lines that are no results, and are left out: \(source.damaged)\(place).")
        }
        if report.rowCount < statistics.results {
            notes.append(
                "The table holds the first \(report.rowCount) of \(statistics.results) results; numbers and charts are of all."
            )
        }
        if !report.hasPrompts, statistics.results > 0 {
            notes.append(
                "Results have no prompts. \"phibatch report RESULTS JOB\" takes them from the job's input, and --input names one."
            )
        }
        if statistics.fields.isCut {
            notes.append("Of the fields, \(statistics.fields.all.count) are looked at: the first that came.")
        }
        if report.withoutLine > 0 {
            notes.append(
                "Results whose line the input no longer has as it was, shown without a prompt: \(report.withoutLine)."
            )
        }
        if statistics.resumed > 0 {
            notes.append(
                "Completions that an earlier run began: \(statistics.resumed). Their tokens of that time are not in the throughput."
            )
        }
        let fields = statistics.fields.all
        let distributions =
            [statistics.prompts, statistics.total] + fields.map(\.numbers) + fields.map(\.lengths)
        if distributions.contains(where: { !$0.isExact }) {
            notes.append(
                "Of more than \(Distribution.exactLimit) values, and \(FieldStatistics.exactLimit) of a field, percentiles are within 1%."
            )
        }
        return notes
    }
}
