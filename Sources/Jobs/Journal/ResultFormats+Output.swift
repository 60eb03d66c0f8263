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
