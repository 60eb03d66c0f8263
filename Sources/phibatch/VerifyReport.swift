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
    private let matching: Int?
    private let files: Int
    /// Names of the files with another hash.
    private(set) var damaged: [String] = []

    init(folder: String, console: Console) throws {
        let report = { @Sendable (done: Int, total: Int) in
            console.progress("\(ModelFetch.size(done)) of \(ModelFetch.size(total)) read")
        }
        let verdicts = HubCache.verdicts(on: folder, report: report)
        files = verdicts?.count ?? 0
        matching = verdicts?.count { $0.verdict == .right }
        for case (let name, .wrong(let reason)) in verdicts ?? [] {
            damaged.append(name)
            faults.append("\(Paths.join(folder, name)): \(reason)")
        }
        guard faults.isEmpty else { return }
        faults += ModelCheck.faults(in: folder, readsWeights: matching == nil, progress: report)
            .map(\.explanation)
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
