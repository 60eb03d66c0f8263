import OperatingSystem

/// The files beside an output. A symbolic link as output is followed once, here, so that the rename
/// replaces the file it points to and not the link.
///
/// None of these names is proof that a file is ours: `RunFile` looks into it. The drafts' names are such as
/// nobody gives by chance; they are fixed, so that what a killed run left is found without listing the folder.
package struct OutputPaths: Equatable {
    package let output: String
    /// Packing of the output, as the name says that the user gave.
    let packing: Packing?
    /// Only on a file system without locks.
    var lock: String { output + ".lock" }
    package var log: String { Self.log(of: output) }
    static func log(of output: String) -> String { output + ".log" }

    /// Path of the manifest of a complete output.
    package static func manifest(of output: String) -> String { output + ".manifest.json" }

    /// Nil where the output is not packed.
    /// - Throws: `UserError` where there is no library for it.
    func makePacker() throws(UserError) -> Packer? {
        guard let packing else { return nil }
        return try explaining(.cannotWrite, at: output, "", try Packer(packing))
    }

    /// The output of one shard, from 0.
    static func shard(_ index: Int, of count: Int, output: String) -> String {
        "\(output).shard-\(index + 1)-of-\(count)"
    }

    // Drafts of the output and of these.
    var draft: String { output + ".phibatch-new" }
    /// First draft of a log, under which it is locked before it gets its name. The longest name of all, so that the others
    /// are not too long either.
    var newLog: String { output + ".phibatch-first" }
    var logDraft: String { output + ".phibatch-log" }

    /// All names that a run may use, and what it uses them for.
    var own: [(path: String, use: RunFile.Use)] {
        [(lock, .lock), (newLog, .newLog), (log, .log), (logDraft, .logDraft), (draft, .outputDraft)]
    }

    var folder: String { Paths.folder(of: output) }

    package init(output: String, in system: FileSystem) throws(UserError) {
        var path = output
        var links = 0
        // A link of this process's own streams names nothing in a folder.
        func isStream() -> Bool {
            ["/dev/fd/", "/dev/std", "/proc/"].contains { path.utf8.starts(with: $0.utf8) }
        }
        while !isStream(),
            let target = try explaining(
                .cannotWrite, at: output, "can't be examined", try system.linkTarget(path))
        {
            links += 1
            guard links <= 40 else {
                throw UserError(.cannotWrite, at: output, "is a symbolic link that leads nowhere.")
            }
            path = Paths.join(Paths.folder(of: path), target)
        }
        if isStream() {
            throw UserError(
                .cannotWrite, at: output,
                "is an open stream and not a file. For the standard output, give - as output.")
        }
        self.output = path
        let name = output.lowercased()
        let end = name.firstRange(of: /\.shard-\d+-of-\d+$/)?.lowerBound ?? name.endIndex
        packing = Packing(name: String(name[..<end]))
    }
}

extension ResultFormat {
    /// - Parameter path: the output that has this header in its log.
    /// - Throws: `UserError` if this version has no such format.
    static func recorded(_ header: LogHeader, _ path: String) throws -> Self {
        let shown = ResultDetail.allCases.flatMap { detail in all.compactMap { $0.showing(detail) } }
        for var format in all + shown {
            format.layout = header.layout
            for omits in [false, true] {
                format.omitsFailures = omits
                if format.nameInLog == header.format { return format }
            }
        }
        throw UserError(.mismatch, at: path, "is in the format \(header.format), which is not known.")
    }
}
