/// The files beside an output. A symbolic link as output is followed once, here, so that the rename
/// replaces the file it points to and not the link.
struct OutputPaths: Equatable {
    let output: String
    var journal: String { output + ".journal" }
    var journalDraft: String { output + ".journal.tmp" }
    var inFlight: String { output + ".journal.inflight" }
    var inFlightDraft: String { output + ".journal.inflight.tmp" }
    var lock: String { output + ".lock" }
    var draft: String { output + ".tmp" }
    // The names that two kinds of scratch files have for an instant.
    var indexScratch: String { output + ".journal.index.tmp" }
    var idScratch: String { output + ".journal.ids.tmp" }

    var folder: String {
        guard let slash = output.lastIndex(of: "/") else { return "." }
        return slash == output.startIndex ? "/" : String(output[..<slash])
    }

    init(output: String, in system: any FileSystem) throws(StoreError) {
        var path = output
        var links = 0
        do {
            while let target = try system.retrying({ () throws(SystemError) in try system.linkTarget(path) })
            {
                links += 1
                guard links <= 40 else {
                    throw StoreError(.cannotCreate, path: output, "is a symbolic link that leads nowhere.")
                }
                let parent = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
                path = target.hasPrefix("/") ? target : parent + target
            }
        } catch let error as SystemError {
            throw StoreError(.cannotCreate, path: output, "cannot be examined", error)
        } catch let error as StoreError {
            throw error
        } catch {
            throw StoreError(.cannotCreate, path: output, "\(error)")
        }
        self.output = path
    }
}
