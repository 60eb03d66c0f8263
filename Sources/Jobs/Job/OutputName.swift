import OperatingSystem

/// The format that an output's name shows to its readers.
struct OutputName {
    private let path: String
    /// In lower case, and without the ending of a compression.
    private let name: String
    private let isPacked: Bool

    /// - Parameter path: without a shard's ending.
    init(_ path: String) {
        let name = Paths.name(of: path).lowercased()
        (self.path, self.name) = (path, Packing.stem(ofName: name))
        isPacked = self.name != name
    }

    /// Nil if the name shows none.
    var format: ResultFormat? { ResultFormat.all.first { $0.nameEnds.contains(where: ends) } }

    private func ends(in ending: String) -> Bool { name.hasSuffix("." + ending) }

    private static let others = [
        "bz2", "xz", "lz4", "zip", "7z", "br", "arrow", "feather", "avro", "orc", "xlsx", "xls", "ods",
        "sqlite", "db", "pkl", "npz", "h5",
    ]

    /// - Throws: `UserError` if the name shows a format that no output has.
    func check() throws(UserError) {
        guard Self.others.contains(where: ends) || isPacked && format?.table != nil else { return }
        throw UserError(
            .badJob, at: path,
            "has a name of something else: outputs are JSON lines, or arrays in .json, or tables in .csv, .tsv or .parquet, and those in text may be packed in .gz or .zst. Give it such a name; pandas, for one, makes other formats of it."
        )
    }

    /// - Parameter format: the file's format.
    /// - Throws: `UserError` if the name shows another.
    func check(against format: ResultFormat) throws(UserError) {
        let writesJSONLines = format.nameEnds.isEmpty
        let fits =
            switch self.format {
            case nil: writesJSONLines || !["jsonl", "ndjson"].contains(where: ends)
            case let named?: named.nameEnds == (writesJSONLines ? ["json"] : format.nameEnds)
            }
        guard !fits else { return }
        throw UserError(
            .badJob, at: path,
            "is for failed lines in the output's format, which is \(format.name); give it a matching name, or set output_format."
        )
    }
}

extension JobSettings {
    /// - Throws: `UserError` if a file's format differs from its name, or its compression is unavailable.
    func checkOutputNames() throws {
        for path in [wholeOutput, errors ?? "-"] { try OutputName(path).check() }
        for path in [output, errors ?? "-"] where path != "-" {
            _ = try OutputPaths(output: path).makePacker()
        }
        do throws(UserError) { if outputFormat.table != nil { _ = try DuckDB.program() } } catch {
            throw UserError(.badJob, at: output, error.text)
        }
        // A format set by the job is known to the user.
        guard let errors, outputFormatFollowsInput else { return }
        try OutputName(errors).check(against: outputFormat)
    }
}
