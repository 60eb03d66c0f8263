import BatchPipeline
import Errors
import FoundationShim
import JSON
import OperatingSystem

/// A report as one HTML file.
///
///     head, style, an empty page | numbers as JSON | script | rows as JSON, in pieces
///
/// Nothing from the results is HTML: it is JSON without `<`, `>` and `&`, which the script puts into text nodes. The
/// page's security policy allows this one style and this one script, by their hashes, and no network.
struct ReportPage {
    /// First bytes of all reports, which identify them.
    static let head = "<!doctype html>\n<!-- phibatch report 1 -->\n"
    /// Rows of a piece, whose texts are opened together.
    static let pieceLength = 20

    let report: ResultReport
    /// Name of the results' file.
    let name: String
    let model: String?

    /// Writes a file that gets its name once complete. An existing report is replaced, and no other file.
    /// - Parameter path: `-` is stdout.
    /// - Returns: the number of bytes written.
    func write(to path: String) throws -> Int {
        var count = 0
        if path == "-" {
            try write(StandardOutput.write)
            return count
        }
        // A link as output is followed, as a run's is.
        let target = try OutputPaths(output: path).output
        try ReplacedFile(target, start: Self.head, what: "report").replace { put in
            try write { bytes in
                count += bytes.count
                try put(bytes)
            }
        }
        return count
    }

    private func write(_ put: ([UInt8]) throws -> Void) throws {
        try put(Array(start.utf8))
        try put(Self.block("id=\"report\"", numbers))
        try put(Array("<script>\(Self.script)</script>\n".utf8))
        var (rows, texts): ([JSONValue], [JSONValue]) = ([], [])
        func putPiece() throws {
            try put(Self.block("class=\"rows\"", .array(rows)) + Self.block("class=\"texts\"", .array(texts)))
            (rows, texts) = ([], [])
        }
        let fields = report.statistics.fields
        try report.forEachRow { result, prompt in
            rows.append(cells(of: result, fields))
            texts.append(self.texts(of: result, prompt))
            if rows.count == Self.pieceLength { try putPiece() }
        }
        if !rows.isEmpty { try putPiece() }
        try put(Array("</body>\n</html>\n".utf8))
    }

    // Files of `Page`, embedded by the package manager. The colors have WCAG's contrasts.
    static let style = "\n" + String(decoding: PackageResources.page_css, as: UTF8.self)
    static let script = "\n" + String(decoding: PackageResources.page_js, as: UTF8.self)

    private var start: String {
        """
        \(Self.head)<html lang="en">
        <head>
        <meta charset="utf-8">
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src \(Self.hash(Self.script)); \
        style-src \(Self.hash(Self.style)); base-uri 'none'; form-action 'none'">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="referrer" content="no-referrer">
        <title>phibatch report</title>
        <style>\(Self.style)</style>
        </head>
        <body>
        \(String(decoding: PackageResources.page_html, as: UTF8.self))
        """
    }

    private static func hash(_ text: String) -> String {
        "'sha256-\(Data(SHA.sha256(of: text.utf8)).base64EncodedString())'"
    }

    /// Returns JSON as a block that is not run. `<`, `>` and `&` occur only in its strings, and are escaped.
    private static func block(_ attributes: String, _ json: JSONValue) -> [UInt8] {
        var bytes = Array("<script type=\"application/json\" \(attributes)>".utf8)
        for byte in JSONWriter.text(of: json).utf8 {
            switch byte {
            case UInt8(ascii: "<"): bytes += "\\u003c".utf8
            case UInt8(ascii: ">"): bytes += "\\u003e".utf8
            case UInt8(ascii: "&"): bytes += "\\u0026".utf8
            default: bytes.append(byte)
            }
        }
        return bytes + "</script>\n".utf8
    }

    private static func rounded(_ value: Double) -> JSONValue { .double((value * 1000).rounded() / 1000) }

    /// `[id, line, sample, status, prompt tokens, completion tokens, seconds, values of fields ...]`
    private func cells(of result: ReportedResult, _ fields: [FieldStatistics]) -> JSONValue {
        let numbers = [
            result.index.map { $0 + 1 } ?? result.line, result.sample, report.statistics.status(of: result),
            result.promptTokens, result.completionTokens,
        ]
        let values: [JSONValue] = fields.map { field in
            switch result.fields.first(where: field.isOf)?.value ?? .null {
            case let value where value == .null || value.number != nil: value
            case .bool(let value): .bool(value)
            case let value: .string(value.plainText.cut(to: 100))
            }
        }
        return .array(
            [.string(result.key.id)] + numbers.map(Self.optional)
                + [result.timing.map { Self.rounded(ResultTime.seconds($0)) } ?? .null] + values)
    }

    /// `[prompt, answer, error, seed, {time: value, ...}, [[name, fact], ...]]`
    private func texts(of result: ReportedResult, _ prompt: ReportPrompts.Prompt?) -> JSONValue {
        var facts: [(name: String, value: String)] = []
        func shown(_ text: String?, _ name: String, bytes: Int = 0) -> JSONValue {
            guard let text else { return .null }
            let (cut, bytes) = (text.cut(), max(bytes, text.utf8.count))
            if cut.utf8.count < bytes {
                facts.append((name, "the first \(cut.utf8.count) of \(bytes) bytes"))
            }
            return .string(cut)
        }
        if report.hasPrompts, prompt == nil { facts.append(("Prompt", "not in the input, or changed there")) }
        let texts = [
            shown(prompt?.text, "Prompt", bytes: prompt?.length ?? 0), shown(result.text, "Answer"),
            shown(result.message, "Error"),
        ]
        facts += result.facts.map { ($0.name, $0.value.cut()) }
        // Numbers in the page's script have 53 bits.
        let seed = result.seed.map { JSONValue.string("\($0)") } ?? .null
        return .array(
            texts + [
                seed, .object(result.timing ?? [:]),
                .array(facts.map { [.string($0.name), .string($0.value)] }),
            ])
    }

    /// Numbers of all results.
    private var numbers: JSONValue {
        let statistics = report.statistics
        let latency = statistics.times.map { ($0, Self.json($1, areWhole: false)) }
        return [
            "name": .string(name.showingBytes), "state": .string(report.state.rawValue),
            "model": model.map { .string($0) } ?? .null, "made": .int(FileInfo.now / 1_000_000_000),
            "version": .string(Phibatch.version), "results": .int(statistics.results),
            "lines": .int(statistics.lines), "failed": .int(statistics.failed),
            "prompt_tokens": .int(statistics.promptTokens),
            "completion_tokens": .int(statistics.completionTokens),
            "lengths": [
                "prompt": Self.json(statistics.prompts, areWhole: true),
                "completion": Self.json(statistics.completions, areWhole: true),
            ],
            "times": .array(ResultTime.all.map(Self.json)), "latency": .object(JSONObject(latency)),
            "fields": .array(statistics.fields.map(Self.json)), "throughput": throughput, "funnel": funnel,
            "statuses": .array(statistics.statuses.map(Self.json)),
            "settings": .array(report.settings.map { [.string($0.name), .string($0.value)] }),
            "damaged": .int(report.damaged),
            "table": [
                "rows": .int(report.rowCount), "piece": .int(Self.pieceLength),
                "prompts": .bool(report.hasPrompts), "without_prompt": .int(report.withoutPrompt),
                "fields_cut": .bool(statistics.areFieldsCut),
            ],
        ]
    }

    private static func optional(_ number: Int?) -> JSONValue { number.map { .int($0) } ?? .null }

    private static func json(_ values: [(text: String, count: Int)]) -> JSONValue {
        .array(values.map { [.string($0.text), .int($0.count)] })
    }

    private static func json(_ time: ResultTime) -> JSONValue {
        [
            "name": .string(time.name), "unit": .string(time.unit.rawValue), "title": .string(time.title),
            "about": .string(time.about),
        ]
    }

    private static func json(_ status: ReportStatistics.Status) -> JSONValue {
        [
            "name": .string(status.name), "error": .bool(status.isError), "count": .int(status.count),
            "messages": json(status.messages.top(5)),
        ]
    }

    private static func json(_ values: Distribution, areWhole: Bool) -> JSONValue {
        guard values.count > 0 else { return .null }
        let shares = values.percentiles([50, 90, 99]).map { areWhole ? .double($0.rounded()) : rounded($0) }
        let histogram = values.histogram(areWhole: areWhole)
        let bins: [JSONValue] = histogram.bins.map {
            [.double($0.range.lowerBound), .double($0.range.upperBound), .int($0.count)]
        }
        return [
            "count": .int(values.count), "min": .double(values.minimum), "max": .double(values.maximum),
            "mean": rounded(values.mean), "p50": shares[0], "p90": shares[1], "p99": shares[2],
            "whole": .bool(areWhole), "log": .bool(histogram.isLogarithmic), "bins": .array(bins),
        ]
    }

    private static func json(_ field: FieldStatistics) -> JSONValue {
        [
            "name": .string(ReportedField.name(of: field.path)),
            "of": .string(field.isOfLine ? "line" : "answer"),
            "count": .int(field.count), "kinds": .array(field.kinds.map { .string($0) }),
            "distinct": optional(field.values.distinct), "values": json(field.values.top(20)),
            "numbers": json(field.numbers, areWhole: field.areWhole),
            "lengths": json(field.lengths, areWhole: true),
        ]
    }

    private var throughput: JSONValue {
        let throughput = report.statistics.throughput
        guard !throughput.isEmpty else { return .null }
        let curve = throughput.curve()
        let rates: [JSONValue] = curve.rates.map { [.double($0.start), Self.rounded($0.rate)] }
        return [
            "width": .double(curve.width), "first": .double(throughput.first),
            "last": .double(throughput.last),
            "busy": .double(curve.busy), "tokens": .double(throughput.tokens), "rates": .array(rates),
        ]
    }

    private var funnel: JSONValue {
        let funnel = report.statistics.funnel
        guard funnel.steps.contains(where: { $0.made > 0 }) else { return .null }
        let steps: [JSONValue] = funnel.steps.map {
            [
                "name": .string($0.name), "made": .int($0.made), "dropped": .int($0.dropped),
                "duplicates": .int($0.duplicates),
            ]
        }
        return ["steps": .array(steps), "accepted": .int(funnel.accepted)]
    }
}
