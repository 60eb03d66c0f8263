import BatchPipeline
import Faults
import JSON

/// What `status --check` says of an output.
struct CheckReport {
    /// Nil if there is no output.
    let found: OutputCheck?
    /// What is found in the whole output; nil as that.
    let audit: OutputAudit?
    /// All results that the job will have; nil if its input can't be counted.
    let total: Int?

    init(_ found: OutputCheck?, _ audit: OutputAudit?, total: Int?) {
        self.found = found
        self.audit = audit
        self.total = total
    }

    private var missing: Int {
        guard let found, let total else { return 0 }
        return max(0, total - found.lines)
    }

    var isFine: Bool {
        guard let found else { return false }
        return found.different == 0 && missing == 0
            && found.hasErrorsAsWritten ?? true && audit?.faultCount == 0
    }

    var text: String {
        guard let found else { return "there is no output" }
        var parts: [String] = []
        if let first = found.firstDifferent {
            parts.append(
                "lines not as they were written: \(found.different) of \(found.lines), first line \(first)")
        }
        if missing > 0 { parts.append("results missing: \(missing)") }
        if found.hasErrorsAsWritten == false {
            parts.append("the file of failed lines is not as it was written")
        }
        if let audit {
            parts += audit.faults.map(\.text)
            if audit.faultCount > audit.faults.count {
                parts.append("and \(audit.faultCount - audit.faults.count) more")
            }
        }
        if parts.isEmpty { parts = ["all \(found.lines) results are as they were written"] }
        return parts.joined(separator: "; ") + "; not looked at: "
            + unseen.map(\.text).joined(separator: "; ")
    }

    private var unseen: [Message] {
        (audit?.unseen ?? []) + ["whether the answers are the model's (phibatch verify)"]
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.bool("fine", isFine)
            for (name, number) in [
                ("lines", found?.lines), ("different", found?.different),
                ("first_different_line", found?.firstDifferent), ("missing", found.map { _ in missing }),
            ] {
                writer.optional(name, number) { $0.int($1) }
            }
            writer.int("faults", audit?.faultCount ?? 0)
            writer.array("first_faults", audit?.faults ?? []) { $0.string($1.text) }
            writer.array("not_looked_at", unseen) { $0.string($1.text) }
        }
    }
}
