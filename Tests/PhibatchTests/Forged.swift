import Foundation
import JSON
import Testing

@testable import BatchPipeline
@testable import Jobs
@testable import phibatch

/// A finished output in the hands of a forger who knows how phibatch writes: sums and records are reckoned anew.
struct Forged {
    struct Row {
        var recorded: RecordedResult
        /// With a line feed at its end.
        var text: String
        /// What sets it apart from the row before; nil where that is as it should be.
        var frame: String?
    }

    let folder: String
    let job: JobSettings
    var rows: [Row]
    /// Before the rows, in the output and in the record.
    var start: String
    /// After them.
    var end = ""
    /// The file of failed lines; nil if there is none.
    var errors: String?
    private let samples: Int
    private var format: any ResultFormat { job.outputFormat.format }

    var output: String { job.output }
    /// The second row that is not in the file of failed lines.
    var secondInOutput: Int { rows.indices.filter { !rows[$0].text.isEmpty }[1] }

    init(_ job: JobSettings, folder: String) throws {
        (self.job, self.folder, samples) = (job, folder, job.sampleCount)
        let output = try #require(
            try FinishedOutput(job.output, job.outputFormat.format, samples: job.sampleCount))
        let format = job.outputFormat.format
        rows = try (0..<output.count).map { number in
            try output.with(number) { recorded, bytes in
                let isBare = format is NativeResults || bytes.isEmpty
                let content = isBare ? bytes : try #require(format.content(of: bytes))
                let end = bytes.isEmpty ? "" : "\n"
                return Row(recorded: recorded, text: String(decoding: content, as: UTF8.self) + end)
            }
        }
        start = String(decoding: output.header?.start ?? [], as: UTF8.self)
        errors = try job.errors.map { try String(contentsOfFile: $0, encoding: .utf8) }
        if isArray { end = rows.contains { !$0.text.isEmpty } ? "\n]\n" : "]\n" }
    }

    /// Puts all of it in place.
    func write() throws {
        let texts = framed(resealed(rows.map(\.text)))
        try (start + texts.joined() + end).write(toFile: output, atomically: true, encoding: .utf8)
        if let path = job.errors {
            if let errors {
                try errors.write(toFile: path, atomically: true, encoding: .utf8)
            } else {
                try? FileManager.default.removeItem(atPath: path)
            }
        }
        guard !(format is NativeResults) else { return }
        let run = rows.first?.recorded.run ?? ""
        var lines = [OutputRecord.Header(format: format.name, run: run, start: Array(start.utf8)).line]
        var sum = Self.sum(start)
        for (row, text) in zip(rows, texts) {
            let bytes = Self.sum(text)
            lines.append(
                OutputRecord.Entry(
                    key: row.recorded.key, isFailed: row.recorded.isFailed,
                    completionTokens: row.recorded.completionTokens,
                    range: sum.size..<sum.size + bytes.size, content: bytes.content,
                    json: row.recorded.json
                ).line)
            Array(text.utf8).withUnsafeBytes { sum.add($0) }
        }
        Array(end.utf8).withUnsafeBytes { sum.add($0) }
        lines.append(
            OutputRecord.End(
                results: rows.count, output: sum, footer: end.isEmpty ? nil : Self.sum(end),
                errors: errors.map(Self.sum)
            ).line)
        try Data(lines.flatMap { $0 + [0x0a] }).write(to: URL(filePath: output + ".record"))
    }

    private var isArray: Bool { format.base is JSONArrayResults }

    /// As they stand in an array.
    private func framed(_ texts: [String]) -> [String] {
        guard isArray else { return texts }
        var isFirst = true
        return zip(rows, texts).map { row, text in
            if text.isEmpty { return "" }
            defer { isFirst = false }
            return (row.frame ?? (isFirst ? "\n" : ",\n")) + text.dropLast()
        }
    }

    private static func sum(_ text: String) -> OutputRecord.Sum {
        var sum = OutputRecord.Sum()
        Array(text.utf8).withUnsafeBytes { sum.add($0) }
        return sum
    }

    /// With the sums that phibatch would have written, where the format has some.
    private func resealed(_ texts: [String]) -> [String] {
        guard format.base is NativeResults || isArray else { return texts }
        var sums = NativeSums()
        return texts.map { text in
            let bytes = Array(text.utf8).dropLast()
            return Array(bytes).withUnsafeBytes { bytes in
                guard let line = NativeLine(bytes) else { return text }
                let end = line.rest.upperBound
                var digits: [UInt8] = []
                JSONBytes.appendHex(sums.add(bytes, timing: line.timing, end: end), to: &digits)
                return String(decoding: bytes[..<end], as: UTF8.self) + ",\"sum\":\""
                    + String(decoding: digits, as: UTF8.self) + "\"}\n"
            }
        }
    }

    // MARK: What a forger does

    mutating func replace(_ old: String, with new: String, inRow number: Int = 0) {
        #expect(rows[number].text.contains(old), "\(rows[number].text)")
        rows[number].text = rows[number].text.replacing(old, with: new, maxReplacements: 1)
    }

    /// A row of another id, at the end.
    mutating func append(asID id: String) {
        var row = rows[rows.count - 1]
        let old = row.recorded.key.id
        row.recorded.key.id = id
        row.text =
            row.text.replacing("id\":\"\(old)\"", with: "id\":\"\(id)\"")
            .replacing("\"index\":\(rows.count / samples - 1)", with: "\"index\":\(rows.count / samples)")
        if row.text.hasPrefix(old) { row.text = id + row.text.dropFirst(old.count) }
        rows.append(row)
    }
}

extension DemoJob {
    /// As the program loads them in the job's folder.
    func loadedSettings(_ more: [String] = []) throws -> JobSettings {
        var loaded = try JobOptions.parse(arguments(more)).settings()
        for path in [\JobSettings.output, \JobSettings.input[0]] {
            loaded[keyPath: path] = folder + "/" + loaded[keyPath: path]
        }
        loaded.errors = loaded.errors.map { folder + "/" + $0 }
        return loaded
    }
}
