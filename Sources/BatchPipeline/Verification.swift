import Errors
import FoundationShim
import Jobs
import OperatingSystem

/// Comparison of lines of a finished output with lines generated again. A job gives the same bytes on any machine, so
/// anyone can check a dataset's answers. The rest of the output, its failed lines and its manifest are checked, too.
package struct Verification {
    /// Number of lines in the input, and of those compared.
    package let total: Int
    package let lines: Int
    /// Number of results compared.
    package private(set) var compared = 0
    package private(set) var different = 0
    package private(set) var check: OutputCheck
    /// A sentence for each fault; of many, for the first ones.
    package private(set) var faults: [Message] = []
    /// The verdict, and the list of unchecked things.
    package private(set) var text: Message = ""

    package var isFine: Bool { faults.isEmpty }

    /// Runs the job for lines chosen at random, compares the results, and checks the whole output.
    /// - Parameters:
    ///   - results: the output to verify. It is only read.
    ///   - errors: its file of failed lines, also only read; nil if it has none.
    ///   - sample: returns the number of lines to compare, of so many.
    ///   - run: runs the job to its end, and returns its numbers.
    /// - Throws: `UserError` if there are no such results, or the input can be read only once; the errors of a run.
    package init(
        _ job: BatchJob, results: String, errors: String?, sample: (Int) -> Int,
        run: (BatchJob) throws -> RunStatistics
    ) throws {
        var job = job
        job.settings = try job.settings.asFinished(in: results)
        guard let total = try job.settings.countLines() else {
            throw UserError(.usage, "an input that can be read only once can't be verified; give a file.")
        }
        (self.total, lines) = (total, min(total, sample(total)))
        let places = (0..<total).shuffled().prefix(lines).sorted().map(job.settings.selection.place)
        let folder = FileManager.default.temporaryDirectory.path + "/phibatch-verify-\(UUID().uuidString)"
        // The output may be private to its owner.
        try Files.makeFolder(folder, mode: 0o700)
        defer { try? Files.removeFolder(folder) }
        var again = job
        again.settings.selection = .some(places)
        again.settings.output = folder + "/" + Paths.name(of: results)
        again.settings.errors = job.settings.errors.map { _ in folder + "/errors" }
        again.settings.provenance = false
        // Lines are identified by the schemes of that output.
        again.verified = results
        // Each is computed alone, as a proof.
        again.settings.computesEqualsOnce = false
        again.settings.maxFailures = .percent(100)
        let statistics = try run(again)
        let made = places.isEmpty ? nil : try FinishedOutput(again.settings.output)
        let chosen = Set(places)
        var (compared, different, first) = (0, 0, Message?.none)
        check = try OutputCheck(job.settings, output: results, errors: errors) { place, key, record in
            guard let made, chosen.contains(place), compared < made.count else { return }
            let again = try made.record(compared)
            compared += 1
            let found =
                if let record { Self.difference(record, again, in: results) } else {
                    "\(results) has no result of this line." as Message?
                }
            guard let found else { return }
            different += 1
            first = first ?? "the result \(key.id), line \(place + 1) of those that count: \(found)"
        }
        (self.compared, self.different) = (compared, different)
        faults = check.faults.map { "\(results): \($0)" }
        if check.faultCount > check.faults.count {
            faults.append("and \(check.faultCount - check.faults.count) more")
        }
        let now = try job.settings.runFingerprint(cache: job.cache)
        let others = now.map { now in check.madeBy.filter { $0.run != now.digest } } ?? []
        let kept = Set(check.header.kept.map(\.digest))
        faults += others.filter { !kept.contains($0.run) }.map {
            "\(results): \($0.results) results were made with another model, arithmetic or settings (run \($0.run))"
        }
        if let first { faults.append(first) }
        faults += job.settings.answers == nil ? [] : statistics.wrongAnswers
        let manifest = try Manifest(ofOutput: results)?.comparison(with: job.settings, check, made: now)
        faults += manifest?.differences.map { "the manifest: \($0)" } ?? []
        let answers = job.settings.answers.map {
            "answers in \($0): \(statistics.answersVerified) checked, \(statistics.wrongAnswers.count) differ"
                as Message
        }
        text =
            (verdict(manifest)
            + [answers, unseen(others.filter { kept.contains($0.run) }, manifest)].compactMap { $0 })
            .joined(separator: "\n" as Message)
    }

    private func verdict(_ manifest: Manifest.Comparison?) -> [Message] {
        let count: Message = "\(lines) of \(counted(total, "line")), \(counted(compared, "result"))"
        guard isFine else {
            let says = manifest.map { !$0.differences.isEmpty } ?? false
            let more = says ? ", and the manifest says otherwise" as Message : ""
            return ["not verified: \(count); \(different) differ\(more)"]
        }
        let more = manifest == nil ? "" : "; all else is as the manifest says" as Message
        return [
            "verified: \(count); all are what the job generates, byte for byte\(more)",
            "the whole output has \(counted(check.results, "result")), one for each line and sample of the input, in its order, and nothing else",
        ]
    }

    private func unseen(_ keptRuns: [RunShare], _ manifest: Manifest.Comparison?) -> Message {
        var unseen: [Message] = []
        if total > lines { unseen.append("the answers of \(counted(total - lines, "line")) (--sample)") }
        for share in keptRuns {
            unseen.append(
                "\(counted(share.results, "result")) that are kept of run \(share.run), with other settings")
        }
        unseen += check.unseen
        unseen +=
            manifest?.unseen.map { "the manifest's \($0)" } ?? ["a manifest, as none lies beside the output"]
        return "not looked at: \(unseen.joined(separator: "; "))"
    }

    private static func difference(
        _ there: ResultRecord, _ made: ResultRecord, in path: String
    ) -> Message? {
        if there.key.contentHash != made.key.contentHash {
            return "the line has another content now than when \(path) was made."
        }
        if there.result.isFailed != made.result.isFailed {
            return "it \(made.result.isFailed ? "fails" : "does not fail"), and \(path) says otherwise."
        }
        if !there.run.utf8.elementsEqual(made.run.utf8) {
            return
                "\(path) was made with another model, arithmetic or settings (run \(there.run), and here \(made.run)); phibatch status says which."
        }
        let texts = [there, made].map { record in
            var result = record.result
            result.timing = nil
            return result.bytes
        }
        return texts[0] == texts[1] ? nil : shown(texts[0], texts[1])
    }

    /// Shows both from shortly before the first different byte.
    private static func shown(_ there: [UInt8], _ made: [UInt8]) -> Message {
        let same = zip(there, made).prefix { $0 == $1 }.count
        func piece(_ bytes: [UInt8]) -> String {
            String(decoding: bytes.dropFirst(max(0, same - 30)).prefix(90), as: UTF8.self)
        }
        return
            "differs at byte \(same + 1): it has ...\(piece(there))..., and generated is ...\(piece(made))..."
    }
}
