import Foundation
import JSON
import OperatingSystem
import Testing

@testable import BatchPipeline
@testable import Jobs
@testable import phibatch

/// A finished output in the hands of a forger who knows how phibatch writes: log and sums are reckoned anew.
struct Forged {
    let job: JobSettings
    var records: [ResultRecord] { didSet { text = rendered } }
    var header: LogHeader
    /// The output; what is written of the records, unless that was edited.
    var text = ""
    /// The file of failed lines; nil if there is none.
    var errors: String?

    init(_ job: JobSettings) throws {
        self.job = job
        let output = try #require(try FinishedOutput(job.output))
        (header, records) = (output.header, try (0..<output.count).map { try output.record($0) })
        errors = try job.errors.map { try String(contentsOfFile: $0, encoding: .utf8) }
        text = rendered
    }

    private var rendered: String {
        var (encoder, bytes) = (ResultEncoder(job.outputFormat, samples: job.sampleCount), [UInt8]())
        encoder.begin(&bytes)
        for record in records { encoder.append(record, to: &bytes) }
        encoder.end(&bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Puts all of it in place.
    func write() throws {
        try text.write(toFile: job.output, atomically: true, encoding: .utf8)
        if let path = job.errors {
            if let errors {
                try errors.write(toFile: path, atomically: true, encoding: .utf8)
            } else {
                try? FileManager.default.removeItem(atPath: path)
            }
        }
        let end = OutputLog.End(
            results: records.count, output: Self.sum(text), errors: errors.map(Self.sum))
        let lines = [header.line] + records.map(\.line) + [end.line]
        let packed = try Packer(.gzip).pack(lines.flatMap { $0 + [0x0a] }, isLast: true)
        try Data(packed).write(to: URL(filePath: job.output + ".log"))
    }

    private static func sum(_ text: String) -> OutputLog.Sum {
        var sum = OutputLog.Sum()
        Array(text.utf8).withUnsafeBytes { sum.add($0) }
        return sum
    }

    // MARK: What a forger does

    mutating func replace(_ old: String, with new: String) {
        #expect(text.contains(old), "\(text)")
        text = text.replacing(old, with: new, maxReplacements: 1)
    }

    /// A result of another id, at the end.
    mutating func append(asID id: String) {
        var record = records[records.count - 1]
        record.key.id = id
        records.append(record)
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
