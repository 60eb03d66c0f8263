import OperatingSystem

/// An output for a store is written here first, beside its log, and sent when it is complete.
extension JobSettings {
    /// Gives an output for a store its place on this machine.
    /// - Throws: `UserError` if there is none.
    mutating func placeOutput() throws(UserError) {
        guard let scheme = Addresses.scheme(of: output), ["s3", "gs", "az"].contains(scheme) else { return }
        let name = Paths.name(of: output)
        guard output.split(at: "/").count > 2, !Paths.namesFolder(output) else {
            throw UserError(.badJob, at: output, "names no object; write \(scheme)://bucket/key.")
        }
        let cache = WeightCacheLocation.standard().folder.map { Paths.join($0, "outputs") }
        guard let folder = ProgramCall.path(inVariable: "PHIBATCH_OUTPUTS") ?? cache else {
            throw UserError(
                .badJob, at: output,
                "there is no folder where it could be made first: PHIBATCH_CACHE is off, and PHIBATCH_OUTPUTS names none."
            )
        }
        let hash = FileHash.hexadecimal(SHA.sha256(of: output.utf8).prefix(8))
        distantOutput = output
        output = Files.joined(folder, "\(hash)/\(name)")
    }

    /// The complete files to send, and their addresses.
    package var sent: [(path: String, address: String)] {
        guard let distantOutput else { return [] }
        let address = distantOutput + output.dropFirst(wholeOutput.count)
        let manifest = (OutputPaths.manifest(of: output), OutputPaths.manifest(of: address))
        return [(output, address)] + (provenance ? [manifest] : [])
    }
}
