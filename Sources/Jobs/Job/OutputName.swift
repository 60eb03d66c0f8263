import OperatingSystem

/// The format that an output's name shows to its readers.
struct OutputName {
    private let path: String
    /// Without a shard's ending.
    private let own: String
    /// In lower case, and without the ending of a compression.
    private let name: String

    init(_ path: String, of selection: LineSelection = .all) {
        var name = Paths.name(of: path)
        if let shard = selection.shard {
            let end = OutputPaths.shard(shard.index, of: shard.count, output: "")
            if name.hasSuffix(end) { name = String(name.dropLast(end.count)) }
        }
        (self.path, own, self.name) = (path, name, Packing.stem(ofName: name.lowercased()))
    }

    /// Nil if the name shows none.
    var format: ResultFormat? {
        ResultFormat.all.first { $0.nameEnds.contains { name.hasSuffix("." + $0) } }
    }

    /// Names of JSON lines.
    private var isJSONLines: Bool { name.hasSuffix(".jsonl") || name.hasSuffix(".ndjson") }

    private static let packings = ["bz2", "xz", "lz4", "zip", "7z", "br"]
    private static let others = [
        "avro", "orc", "xlsx", "xls", "ods", "sqlite", "db", "pkl", "npz",
        "h5",
    ]

    /// - Throws: `UserError` if the name shows a format that no output has.
    func check() throws(UserError) {
        if let ending = ending(Self.packings) {
            throw UserError(
                .badJob, at: path,
                "ends in .\(ending), but outputs are packed with gzip or zstd alone, or not at all: name it \(stem(ending)).zst, \(stem(ending)).gz or \(stem(ending))."
            )
        }
        if ParquetFile.isArrow(named: name) { throw UserError(.badJob, at: path, ParquetFile.arrowAdvice) }
        if name != own.lowercased(), let format, format.table != nil {
            throw UserError(
                .badJob, at: path,
                "would be packed as a whole, which readers of \(format.name) don't unpack: name it \(Packing.stem(ofName: own))."
            )
        }
        if let ending = ending(Self.others) {
            throw UserError(
                .badJob, at: path,
                "ends in .\(ending), but outputs are JSON lines, or tables in names that end in .csv, .tsv or .parquet, or an array in .json. Name it "
                    + "\(stem(ending)).parquet or \(stem(ending)).jsonl; pandas, for one, then makes other formats of it."
            )
        }
    }

    private func stem(_ ending: String) -> Substring { own.dropLast(ending.count + 1) }

    private func ending(_ endings: [String]) -> String? { endings.first { name.hasSuffix("." + $0) } }

    /// - Parameter format: the file's format.
    /// - Throws: `UserError` if the name shows another.
    func check(against format: ResultFormat) throws(UserError) {
        let writesJSONLines = format.nameEnds.isEmpty
        let fits =
            switch self.format {
            case nil: writesJSONLines || !isJSONLines
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
        for path in [output, errors].compactMap({ $0 }) where path != "-" {
            try OutputName(path, of: selection).check()
            _ = try OutputPaths(output: path, in: .real).makePacker()
        }
        do throws(UserError) { if outputFormat.table != nil { _ = try DuckDB.program() } } catch {
            throw UserError(.badJob, at: output, error.text)
        }
        // A format set by the job is known to the user.
        guard let errors, outputFormatFollowsInput else { return }
        try OutputName(errors).check(against: outputFormat)
    }
}
