import Essentials
import Faults
import JSON
import Jobs
import OperatingSystem

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
    /// What is found in the whole output: its sums, and everything but what the answers say.
    package let check: OutputCheck?
    package let audit: OutputAudit
    /// How many answers in the job's store were computed again, and a sentence for each that is something else; nil if it
    /// has no store.
    package let answers: (folder: String, verified: Int, wrong: [Message])?

    /// Results of runs that nothing says belong here, and of those that the output keeps.
    package private(set) var foreignRuns: [RunShare] = []
    package private(set) var keptRuns: [RunShare] = []

    package var isFine: Bool {
        different == 0 && audit.faultCount == 0 && check?.different == 0 && check?.hasErrorsAsWritten ?? true
            && foreignRuns.isEmpty && answers?.wrong.isEmpty ?? true
    }

    /// Runs the job for lines chosen at random, compares what comes with the results, and looks at the whole output.
    /// - Parameters:
    ///   - results: the output that is to be verified. It is only read.
    ///   - errors: its file of failed lines, likewise; nil if it has none.
    ///   - run: has the job run to its end, and returns its numbers.
    /// - Throws: `JobError` if there are no such results, or the input can be read but once; what a run throws.
    package init(
        _ job: BatchJob, results: String, errors: String?, extent: Extent,
        run: (BatchJob) throws -> RunStatistics
    ) throws {
        var job = job
        job.settings = try job.settings.asFinished(in: results)
        guard let total = try job.settings.countLines() else {
            throw JobError(.usage, "an input that is read but once can't be verified; give a file.")
        }
        let format = job.settings.outputFormat.format
        check = try OutputCheck.read(output: results, format: format, errors: errors)
        guard check != nil else {
            throw JobError(.missingInput, at: results, "there are no such results.")
        }
        self.total = total
        lines = extent.count(of: total)
        let places = (0..<total).shuffled().prefix(lines).sorted().map(job.settings.selection.place)
        let folder = FileManager.default.temporaryDirectory.path + "/phibatch-verify-\(UUID().uuidString)"
        try Files.makeFolder(folder)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var again = job
        again.settings.selection = .some(places)
        again.settings.output = folder + "/" + Paths.name(of: results)
        again.settings.errors = job.settings.errors.map { _ in folder + "/errors" }
        again.settings.provenance = false
        // What is known by an earlier scheme there is so here.
        again.verified = results
        // Each by itself, which is the proof.
        again.settings.computesEqualsOnce = false
        again.settings.maxFailures = .percent(100)
        let statistics = try run(again)
        answers = job.settings.answers.map {
            (folder: $0, verified: statistics.answersVerified, wrong: statistics.wrongAnswers)
        }
        let made = try MadeResults(again.settings, places)
        var (compared, different, first) = (0, 0, Message?.none)
        audit = try OutputAudit(job.settings, output: results, errors: errors) {
            spot, piece in
            guard let comparison = try made?.comparison(at: spot, piece, in: results) else { return }
            compared += 1
            guard let difference = comparison.difference else { return }
            different += 1
            first =
                first
                ?? "the result \(spot.key.id), line \(spot.place + 1) of those that count: \(difference)"
        }
        (self.compared, self.different, firstDifference) = (compared, different, first)
        guard let now = try job.settings.runFingerprint(cache: job.cache) else { return }
        let paths = try OutputPaths(output: results, format: format, in: POSIXFileSystem())
        let kept = (try? OutputSettings.read(at: paths, in: POSIXFileSystem()))?.kept.map(\.digest) ?? []
        let others = audit.madeBy.filter { $0.run != now.digest }
        foreignRuns = others.filter { !kept.contains($0.run) }
        keptRuns = others.filter { kept.contains($0.run) }
    }
}

/// The results that were made again, in the input's order.
private final class MadeResults {
    struct Comparison {
        /// Nil if nothing differs.
        var difference: Message?
    }

    private let places: [Int]
    private let cursor: ResultCursor
    private let format: any ResultFormat
    private var place = 0
    private var number = 0

    /// - Returns: nil if there are none.
    init?(_ job: JobSettings, _ places: [Int]) throws {
        (self.places, format) = (places, job.outputFormat.format.base)
        guard !places.isEmpty,
            let output = try FinishedOutput(job.output, job.outputFormat.format, samples: job.sampleCount)
        else { return nil }
        var errors: ResultPieces?
        if let path = job.errors, let file = try File.textIfPresent(path, in: POSIXFileSystem()) {
            errors = try ResultPieces(file, format)
            _ = try errors?.takes(format.start(of: job.resultRun(digest: "")))
        }
        cursor = ResultCursor(output, errors: errors)
    }

    /// What is different in the output of a result that was made anew. It is asked for all places in their order.
    /// - Parameter there: nil if the output has none.
    /// - Returns: nil if none was made anew.
    func comparison(
        at spot: OutputAudit.Spot, _ there: ResultCursor.Piece?, in path: String
    ) throws -> Comparison? {
        while place < places.count, places[place] < spot.place { place += 1 }
        guard place < places.count, places[place] == spot.place, number < cursor.output.count else {
            return nil
        }
        let following =
            try number + 1 < cursor.output.count
            ? cursor.output.with(number + 1) { made, _ in made.key.sample } : 0
        defer { number += 1 }
        return try cursor.with(number, isLast: following == 0) { made in
            guard let there else { return Comparison(difference: "\(path) has no result of this line.") }
            return Comparison(difference: difference(there, made, in: path))
        }
    }

    private func difference(
        _ there: ResultCursor.Piece, _ made: ResultCursor.Piece, in path: String
    ) -> Message? {
        if there.recorded.key.contentHash != made.recorded.key.contentHash {
            return "the line has another content now than when \(path) was made."
        }
        if there.recorded.isFailed != made.recorded.isFailed {
            return "it \(made.recorded.isFailed ? "fails" : "does not fail"), and \(path) says otherwise."
        }
        let run = there.recorded.run
        if !run.utf8.elementsEqual(made.recorded.run.utf8) {
            return
                "\(path) was made with another model, arithmetic or settings (run \(run), and here \(made.recorded.run)); phibatch status says which."
        }
        guard let (old, new) = there.bytes.flatMap({ old in made.bytes.map { (old, $0) } }) else {
            // The bytes of all of a line's results stand with the last.
            return (there.bytes == nil) == (made.bytes == nil) ? nil : "it is there in part only."
        }
        // What a result is that is left out, the record alone says.
        if old.isEmpty, new.isEmpty {
            return there.recorded.hasSame(made.recorded)
                ? nil : "it is left out, but the record has it otherwise."
        }
        let (first, second) = (format.lasting(in: old), format.lasting(in: new))
        return first != nil && first == second ? nil : Self.shown(first ?? [], second ?? [])
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
