import Foundations

/// Some lines of a finished output, generated again and compared: the same job gives the same bytes on any machine,
/// so that anyone can check a dataset's answers.
package struct Verification {
    /// How many lines are taken.
    package enum Extent: Sendable, Equatable {
        case lines(Int)
        case percent(Double)
        /// A hundredth, but ten at least.
        case standard

        func count(of total: Int) -> Int {
            switch self {
            case .lines(let count): min(count, total)
            case .percent(let percent): min(total, Int((Double(total) * percent / 100).rounded(.up)))
            case .standard: min(total, max(10, (total + 99) / 100))
            }
        }
    }

    /// Lines that the input has, and how many of them were taken.
    package let total: Int
    package let lines: Int
    /// Results that were compared.
    package private(set) var compared = 0
    /// How many of them differ, and a message for the first.
    package private(set) var different = 0
    package private(set) var firstDifference: Message?

    /// Runs the job for lines chosen at random, and compares what comes with the results.
    /// - Parameters:
    ///   - results: the output that is to be verified. It is only read.
    ///   - run: has the job run to its end.
    /// - Throws: `JobError` if there are no such results, or the input can be read but once; what a run throws.
    package init(
        _ job: BatchJob, results: String, extent: Extent, run: (BatchJob) throws -> Void
    ) throws {
        guard let total = try job.settings.countLines() else {
            throw JobError(.usage, "an input that is read but once can't be verified; give a file.")
        }
        let there = try VerifiedResults(results, job.settings)
        self.total = total
        lines = extent.count(of: total)
        let places = (0..<total).shuffled().prefix(lines).sorted().map(job.settings.selection.place)
        let folder = FileManager.default.temporaryDirectory.path + "/phibatch-verify-\(UUID().uuidString)"
        try Files.makeFolder(folder)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var job = job
        job.settings.selection = .some(places)
        job.settings.output = folder + "/" + Paths.name(of: results)
        job.settings.errors = job.settings.errors.map { _ in folder + "/errors" }
        job.settings.provenance = false
        job.verified = there.output
        // Each by itself, which is the proof.
        job.settings.computesEqualsOnce = false
        job.settings.maxFailures = .percent(100)
        try run(job)
        guard lines > 0 else { return }
        let made = try VerifiedResults(job.settings.output, job.settings)
        try made.visit { result, bytes in
            compared += 1
            guard let difference = try there.difference(from: result, bytes) else { return }
            different += 1
            if firstDifference == nil {
                let number = result.index.map { ", line \($0 + 1) of those that count" } ?? ""
                firstDifference = "the result \(result.key.id)\(number): \(difference)"
            }
        }
    }
}

/// The results that are verified.
private struct VerifiedResults {
    private let path: String
    let output: FinishedOutput
    private let format: any ResultFormat

    /// - Throws: `JobError` if there are none.
    init(_ path: String, _ job: JobSettings) throws {
        guard let output = try FinishedOutput(path, job.outputFormat.format, samples: job.samples) else {
            throw JobError(.missingInput, at: path, "there are no such results.")
        }
        (self.path, self.output, format) = (path, output, job.outputFormat.format.base)
    }

    func visit(_ body: (RecordedResult, UnsafeRawBufferPointer) throws -> Void) throws {
        for number in 0..<output.count { try output.with(number, body) }
    }

    /// What is different here of a result that was made anew; nil if nothing is.
    func difference(from made: RecordedResult, _ bytes: UnsafeRawBufferPointer) throws -> Message? {
        var difference: Message?
        // Of lines with one id each has its own result; of several only one was perhaps made anew.
        for repetition in 0..<1000 {
            let name = ResultIndex.nameHash(made.key, repetition: repetition)
            guard let number = try output.index.lookUp(name) else { break }
            let one = try output.with(number) { there, thereBytes in
                self.difference(there, thereBytes, made, bytes)
            }
            guard let one else { return nil }
            difference = difference ?? one
        }
        return difference ?? "\(path) has no result of this line."
    }

    private func difference(
        _ there: RecordedResult, _ thereBytes: UnsafeRawBufferPointer, _ made: RecordedResult,
        _ madeBytes: UnsafeRawBufferPointer
    ) -> Message? {
        if there.key.contentHash != made.key.contentHash {
            return "the line has another content now than when \(path) was made."
        }
        // Of lines that failed, where those have a file of their own, neither has anything.
        guard format is any SelfRecordingFormat, !(thereBytes.isEmpty && madeBytes.isEmpty) else {
            return Platform.areEqual(thereBytes, madeBytes)
                ? nil : Self.shown(Array(thereBytes), Array(madeBytes))
        }
        if !there.run.utf8.elementsEqual(made.run.utf8) {
            return
                "\(path) was made with another model, arithmetic or settings (run \(there.run), and here \(made.run)); phibatch status says which."
        }
        let (first, second) = (Self.lasting(thereBytes), Self.lasting(madeBytes))
        if first != nil, first == second { return nil }
        return Self.shown(
            Array(first.map(Self.text)?.utf8 ?? "".utf8), Array(second.map(Self.text)?.utf8 ?? "".utf8))
    }

    /// But for the time it took.
    private static func lasting(_ line: UnsafeRawBufferPointer) -> GenerationResult? {
        NativeLine.result(in: NativeLine.withoutLineFeed(line))?.withoutTiming
    }

    private static func text(_ result: GenerationResult) -> String {
        var writer = JSONWriter()
        writer.object { _ = ResultCoding.write(result, to: &$0) }
        return writer.text
    }

    /// Both from a little before the first byte that differs.
    private static func shown(_ there: [UInt8], _ made: [UInt8]) -> Message {
        let same = zip(there, made).prefix { $0 == $1 }.count
        func piece(_ bytes: [UInt8]) -> String {
            String(decoding: bytes.dropFirst(max(0, same - 30)).prefix(90), as: UTF8.self)
        }
        return
            "differs at byte \(same + 1): it has ...\(piece(there))..., and generated is ...\(piece(made))..."
    }
}
