import Errors
import FoundationShim
import JSON
import ModelHub
import OperatingSystem
import PhiModel

/// Findings of `inspect --verify` and `pull --verify`.
struct VerifyReport {
    /// A message for each file or tensor with a fault.
    private(set) var faults: [Message] = []
    /// Number of files with the hash in their names; nil if there are no hashes.
    private(set) var matching: Int?
    private(set) var files = 0
    /// Names of the files with another hash.
    private(set) var damaged: [String] = []

    init(folder: String, console: Console) throws {
        if let check = SnapshotCheck(folder: folder) {
            let total = check.byteCount
            let verdicts = check.verdicts { done in
                console.progress("\(ModelFetch.size(done)) of \(ModelFetch.size(total)) read")
            }
            files = verdicts.count
            matching = verdicts.count { $0 == .right }
            for (name, verdict) in zip(check.names, verdicts) {
                if case .wrong(let reason) = verdict {
                    damaged.append(name)
                    faults.append("\(Paths.join(folder, name)): \(reason)")
                }
            }
        }
        guard faults.isEmpty else { return }
        faults += ModelCheck.faults(in: folder, readsWeights: matching == nil) { done, total in
            console.progress("\(ModelFetch.size(done)) of \(ModelFetch.size(total)) read")
        }.map(\.explanation)
    }

    var text: String {
        var parts: [String] = []
        if let matching {
            parts.append("\(matching) of \(files) files have the hash in their names")
            if faults.isEmpty, matching < files { parts.append("the others have none") }
        } else {
            parts.append("there are no hashes to compare with, as the folder is not of Hugging Face's cache")
            if faults.isEmpty { parts.append("structure and floats are in order") }
        }
        if !faults.isEmpty { parts.append("\(faults.count) fault\(faults.count == 1 ? "" : "s")") }
        return parts.joined(separator: "; ")
    }

    var json: String {
        JSONWriter.object { writer in
            writer.key("verified")
            write(to: &writer)
        }.shownText
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.bool("is_fine", faults.isEmpty)
            writer.bool("has_hashes", matching != nil)
            if let matching {
                writer.int("files", files)
                writer.int("matching", matching)
            }
            writer.array("faults", faults) { $0.string($1.text) }
        }
    }
}
