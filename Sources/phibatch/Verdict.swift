import BatchPipeline
import Faults

/// What `verify` says in the end.
struct Verdict {
    let isFine: Bool
    /// A sentence for each thing that is not as it should be, of many for the first ones.
    private(set) var faults: [Message] = []
    let text: Message

    init(_ verification: Verification, _ manifest: Manifest.Comparison?, path: String) {
        let audit = verification.audit
        if let check = verification.check, let line = check.firstDifferent {
            faults.append(
                "\(path): \(check.different) results are not as they were written, the first in line \(line)")
        }
        if verification.check?.hasErrorsAsWritten == false {
            faults.append("the file of failed lines is not as it was written")
        }
        faults += audit.faults.map { "\(path): \($0)" }
        if audit.faultCount > audit.faults.count {
            faults.append("and \(audit.faultCount - audit.faults.count) more")
        }
        for share in verification.foreignRuns {
            faults.append(
                "\(path): \(share.results) results were made with another model, arithmetic or settings (run \(share.run))"
            )
        }
        if let difference = verification.firstDifference { faults.append(difference) }
        faults += verification.answers?.wrong ?? []
        faults += manifest?.differences.map { "the manifest: \($0)" } ?? []
        let says = manifest.map { !$0.differences.isEmpty } ?? false
        isFine = verification.isFine && !says

        let count: Message =
            "\(verification.lines) of \(counted(verification.total, "line")), \(counted(verification.compared, "result"))"
        var lines: [Message] = []
        if isFine {
            var first: Message = "verified: \(count); all are what the job generates, byte for byte"
            if manifest != nil { first += "; all else is as the manifest says" }
            lines.append(first)
            lines.append(
                "the whole output has \(counted(audit.results, "result")), one for each line and sample of the input, in its order, and nothing else"
            )
        } else {
            let more = says ? ", and the manifest says otherwise" as Message : ""
            lines.append("not verified: \(count); \(verification.different) differ\(more)")
        }
        if let answers = verification.answers {
            lines.append(
                "answers in \(answers.folder): \(answers.verified) checked, \(answers.wrong.count) differ")
        }
        let unseen = Self.unseen(verification, manifest)
        if !unseen.isEmpty { lines.append("not looked at: \(unseen.joined(separator: "; "))") }
        text = lines.joined(separator: "\n" as Message)
    }

    private static func unseen(
        _ verification: Verification, _ manifest: Manifest.Comparison?
    ) -> [Message] {
        var unseen: [Message] = []
        let others = verification.total - verification.lines
        if others > 0 { unseen.append("the answers of \(counted(others, "line")) (--sample)") }
        for share in verification.keptRuns {
            unseen.append(
                "\(counted(share.results, "result")) that are kept of run \(share.run), with other settings")
        }
        unseen.append("the times in timing")
        unseen += verification.audit.unseen
        unseen +=
            manifest?.unseen.map { "the manifest's \($0)" } ?? ["a manifest, as none lies beside the output"]
        return unseen
    }
}
