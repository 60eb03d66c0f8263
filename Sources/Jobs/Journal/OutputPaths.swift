import OperatingSystem

/// The files beside an output. A symbolic link as output is followed once, here, so that the rename
/// replaces the file it points to and not the link.
///
/// None of these names is proof that a file is ours: `RunFile` looks into it. The drafts' names are such as
/// nobody gives by chance; they are fixed, so that what a killed run left is found without listing the folder.
package struct OutputPaths: Equatable {
    package let output: String
    /// How the output is packed, as the name says that the user gave.
    let packing: Packing?
    /// Whether what a finished output holds is known by a file beside it.
    package let keepsRecord: Bool
    package var journal: String { output + ".journal" }
    package var inFlight: String { output + ".journal.inflight" }
    var lock: String { output + ".lock" }
    var record: String { output + ".record" }
    var settings: String { output + ".settings" }

    /// What says how a complete output was made.
    package static func manifest(of output: String) -> String { output + ".manifest.json" }

    /// Nil where the output is not packed.
    /// - Throws: `StoreError` where there is no library for it.
    func makePacker() throws(StoreError) -> Packer? {
        guard let packing else { return nil }
        do {
            return try Packer(packing)
        } catch {
            throw StoreError(.cannotCreate, path: output, error.text(of: packing))
        }
    }

    /// The output of one shard, from 0.
    static func shard(_ index: Int, of count: Int, output: String) -> String {
        "\(output).shard-\(index + 1)-of-\(count)"
    }

    // Drafts of the output and of these, and what a run tries the place with.
    var draft: String { output + ".phibatch-new" }
    var journalDraft: String { output + ".phibatch-journal" }
    var inFlightDraft: String { output + ".phibatch-inflight" }
    var lockDraft: String { output + ".phibatch-lock" }
    var recordDraft: String { output + ".phibatch-record" }
    var settingsDraft: String { output + ".phibatch-settings" }
    /// The longest name of all, so that none of the others is too long.
    var trial: String { output + ".phibatch-trial-of-place" }

    /// All names that a run may use, and what it uses them for.
    var own: [(path: String, use: RunFile.Use)] {
        [
            (journal, .journal), (inFlight, .inFlight), (lock, .lock), (lockDraft, .lockDraft),
            (settings, .settings),
        ] + (keepsRecord ? [(record, .record), (recordDraft, .recordDraft)] : []) + drafts
    }

    /// What nobody uses when a run begins. (The lock's draft is there whenever another run tries for the lock. The
    /// draft of a record may be that of the output, see `OutputRecord`.)
    var drafts: [(path: String, use: RunFile.Use)] {
        [
            (draft, .outputDraft), (journalDraft, .journalDraft), (inFlightDraft, .inFlightDraft),
            (settingsDraft, .settingsDraft), (trial, .scratch),
        ]
    }

    var folder: String { Paths.folder(of: output) }

    /// - Parameter format: of the output; one that is no record of itself has a file more.
    package init(
        output: String, format: any ResultFormat = ResultFormats.standard, in system: any FileSystem
    ) throws(StoreError) {
        var path = output
        var links = 0
        // A link of this process's own streams names nothing in a folder.
        func isStream() -> Bool {
            ["/dev/fd/", "/dev/std", "/proc/"].contains { path.utf8.starts(with: $0.utf8) }
        }
        while !isStream(),
            let target = try system.attempt(
                "cannot be examined", output, try system.linkTarget(path), kind: .cannotCreate)
        {
            links += 1
            guard links <= 40 else {
                throw StoreError(.cannotCreate, path: output, "is a symbolic link that leads nowhere.")
            }
            path = Paths.join(Paths.folder(of: path), target)
        }
        if isStream() {
            throw StoreError(
                .cannotCreate, path: output,
                "is an open stream and not a file. For the standard output, give - as output.")
        }
        self.output = path
        let name = output.lowercased()
        let end = name.firstRange(of: /\.shard-\d+-of-\d+$/)?.lowerBound ?? name.endIndex
        packing = Packing(name: String(name[..<end]))
        keepsRecord = !(format is NativeResults)
    }
}

extension ResultFormats {
    /// As a record names it.
    private static func recorded(_ name: String) -> (any ResultFormat)? {
        guard name.hasSuffix(PartOfResults.nameEnd) else {
            let shown = ResultDetail.allCases.flatMap { detail in all.compactMap { $0.showing(detail) } }
            return (all + shown).first { $0.name == name }
        }
        return recorded(String(name.dropLast(PartOfResults.nameEnd.count)))
            .map { PartOfResults(base: $0, ofFailedLines: false) }
    }

    /// That of the output that is there, as far as the files beside it tell.
    /// - Throws: `StoreError` if a file can't be read.
    package static func format(ofOutput path: String) throws -> any ResultFormat {
        let system = POSIXFileSystem()
        let paths = try OutputPaths(output: path, format: standard, in: system)
        guard let record = try RunFile.open(paths.record, .record, .readOwn, in: system),
            case .valid(let header) = try OutputRecord.header(of: record)
        else { return standard }
        return recorded(header.format)?.beginning(with: header.start) ?? standard
    }
}
