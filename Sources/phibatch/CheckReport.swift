import BatchPipeline
import Foundations

/// What `status --check` says of an output.
struct CheckReport {
    /// Nil if there is no output.
    let found: OutputCheck?
    /// All results that the job will have; nil if its input can't be counted.
    let total: Int?

    init(_ found: OutputCheck?, total: Int?) {
        self.found = found
        self.total = total
    }

    private var missing: Int {
        guard let found, let total else { return 0 }
        return max(0, total - found.lines)
    }

    var isFine: Bool {
        guard let found else { return false }
        return found.different == 0 && found.unsummed == 0 && missing == 0
    }

    var text: String {
        guard let found else { return "there is no output" }
        var parts: [String] = []
        if let first = found.firstDifferent {
            parts.append(
                "lines not as they were written: \(found.different) of \(found.lines), first line \(first)")
        }
        if found.unsummed > 0 {
            parts.append("results without a sum, as earlier versions wrote them: \(found.unsummed)")
        }
        if missing > 0 { parts.append("results missing: \(missing)") }
        return parts.isEmpty
            ? "all \(found.lines) results are as they were written" : parts.joined(separator: "; ")
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.bool("fine", isFine)
            for (name, number) in [
                ("lines", found?.lines), ("different", found?.different),
                ("first_different_line", found?.firstDifferent), ("without_sum", found?.unsummed),
                ("missing", found.map { _ in missing }),
            ] {
                writer.key(name)
                number.map { writer.int($0) } ?? writer.null()
            }
        }
    }
}
